// SPDX-License-Identifier: Apache-2.0
// The overflow word of a device as an operator: 8 numbers, of which the first is not 0 after an overflow. The vendor's
// first operator of this kind also writes them into its input, where torch_npu looks for them.
#include <cstring>

#include "base/error.h"
#include "device/context/overflow.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

constexpr int64_t kWords = 8;

void check_words(const Tensor& tensor, const char* name) {
  if (!tensor.defined()) return;
  require(tensor.dtype == DType::kFloat || tensor.dtype == DType::kInt32, "{} is {}; it must be float32 or int32", name,
          tensor);
  require(tensor.contiguous() && tensor.count() == kWords, "{} is {}; it must be {} numbers side by side", name, tensor,
          kWords);
}

void write_words(const Tensor& tensor, bool overflowed) {
  if (!tensor.defined()) return;
  std::memset(tensor.bytes(), 0, kWords * size_of(tensor.dtype));
  if (tensor.dtype == DType::kFloat)
    *tensor.as<float>() = overflowed ? 1 : 0;
  else
    *tensor.as<int32_t>() = overflowed ? 1 : 0;
}

struct GetFloatStatus final : Operator {
  Tensor self, out;
  int64_t device = 0;

  void prepare() override {
    check_words(self, "self");
    check_words(out, "out");
  }
  void run() override {
    const bool overflowed = device::overflow_word(static_cast<int>(device)) != 0;
    write_words(self, overflowed);
    write_words(out, overflowed);
  }
};

struct ClearFloatStatus final : Operator {
  Tensor self, out;
  int64_t device = 0;

  void prepare() override { check_words(out, "out"); }
  void run() override {
    device::clear_overflow(static_cast<int>(device));
    write_words(out, false);
  }
};

struct AllocFloatStatus final : Operator {
  Tensor out;

  void prepare() override { check_words(out, "out"); }
  void run() override { write_words(out, false); }
};

NPU_OPERATOR(GetFloatStatus, "get_float_status", "math", optional_out<&GetFloatStatus::self>("self"),
             optional_out<&GetFloatStatus::out>("out"), attr<&GetFloatStatus::device>("device"));
NPU_OPERATOR(ClearFloatStatus, "clear_float_status", "math", optional<&ClearFloatStatus::self>("self"),
             optional_out<&ClearFloatStatus::out>("out"), attr<&ClearFloatStatus::device>("device"));
NPU_OPERATOR(AllocFloatStatus, "alloc_float_status", "math", out<&AllocFloatStatus::out>("out"));

}  // namespace
}  // namespace npu::ops
