// SPDX-License-Identifier: Apache-2.0
// Signs of numbers as bits, as compressed exchanges of gradients send them: bit i % 8 (least significant first) of byte
// i / 8 is 1 where element i is not negative. The last byte is filled up with 0. Unpacking gives 1 and -1.
#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

constexpr int64_t kGrain = 1 << 14;
constexpr int64_t kBlock = 512;

void check_bytes(std::string_view name, const Tensor& t) {
  require(t.dtype == DType::kUInt8 && t.contiguous(), "{} is {}; it must be a contiguous uint8 tensor", name, t);
}

void check_rows(int64_t size, const Tensor& out) {
  require(size > 0 && out.rank() == 2 && out.shape[0] == size, "out is {}; it must have size = {} rows", out, size);
}

void check_signs(std::string_view name, const Tensor& t) {
  require(t.dtype == DType::kFloat || t.dtype == DType::kHalf, "{} is {}; it must be float32 or float16", name, t);
}

struct SignBitsPack final : Operator {
  Tensor self, out;
  int64_t size = 1;
  OrderedTensor in;

  void prepare() override {
    check_signs("self", self);
    check_bytes("out", out);
    check_rows(size, out);
    require(self.rank() == 1 && out.count() == (self.count() + 7) / 8,
            "self is {}, out is {}; out holds 8 signs a byte", self, out);
    in = OrderedTensor(self, DType::kFloat);
  }
  void run() override {
    parallel_for(out.count(), kGrain, [&](int64_t begin, int64_t end) {
      // A multiple of 8 elements a block, so that no byte is shared by two blocks or threads.
      float values[kBlock];  // NOLINT: filled below
      for (int64_t at = begin; at < end; at += kBlock / 8) {
        const int64_t bytes = std::min(kBlock / 8, end - at), n = std::min(bytes * 8, self.count() - at * 8);
        in.load(at * 8, n, values);
        for (int64_t i = 0; i < bytes; ++i) out.as<uint8_t>()[at + i] = pack(values + i * 8, n - i * 8);
      }
    });
  }
  int64_t cost() const override { return 200 + self.count(); }

 private:
  static uint8_t pack(const float* values, int64_t n) {
    unsigned byte = 0;
    // -0 is not negative; a NaN compares false and counts as negative.
    for (int64_t i = 0; i < std::min<int64_t>(8, n); ++i) byte |= (values[i] >= 0 ? 1u : 0u) << i;
    return static_cast<uint8_t>(byte);
  }
};

struct SignBitsUnpack final : Operator {
  Tensor self, out;
  int64_t size = 1;
  OrderedTensor made;

  void prepare() override {
    check_bytes("self", self);
    check_signs("out", out);
    check_rows(size, out);
    require(out.count() == self.count() * 8, "self is {}, out is {}; each byte gives 8 signs", self, out);
    made = OrderedTensor(out, DType::kFloat);
  }
  void run() override {
    parallel_for(self.count(), kGrain, [&](int64_t begin, int64_t end) {
      float values[kBlock];  // NOLINT: filled below
      for (int64_t at = begin; at < end; at += kBlock / 8) {
        const int64_t n = std::min(kBlock / 8, end - at) * 8;
        for (int64_t i = 0; i < n; ++i) values[i] = (self.as<uint8_t>()[at + i / 8] >> (i % 8) & 1) != 0 ? 1.0f : -1.0f;
        made.store(at * 8, n, values);
      }
    });
  }
  int64_t cost() const override { return 200 + out.count(); }
};

NPU_OPERATOR(SignBitsPack, "sign_bits_pack", "math", in<&SignBitsPack::self>("self"), attr<&SignBitsPack::size>("size"),
             out<&SignBitsPack::out>("out"));
NPU_OPERATOR(SignBitsUnpack, "sign_bits_unpack", "math", in<&SignBitsUnpack::self>("self"),
             attr<&SignBitsUnpack::size>("size"), out<&SignBitsUnpack::out>("out"));

}  // namespace
}  // namespace npu::ops
