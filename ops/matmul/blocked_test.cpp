// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/blocked.h"

#include <gtest/gtest.h>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

Tensor blocked_copy(const Tensor& plain, std::vector<std::byte>& memory) {
  memory.assign(static_cast<size_t>(blocked_elements(plain.shape, plain.dtype)) * size_of(plain.dtype),
                std::byte{0x55});
  std::memcpy(memory.data(), plain.bytes(), static_cast<size_t>(bytes_of(plain)));
  Tensor out = plain;
  out.data = memory.data();
  Call("block_weight").set("self", out).run();
  out.format = kBlockedFormat;
  return out;
}

// The vendor's layout of a [k, n] matrix: [n / n0, k / 16, 16, n0], n0 elements being 32 bytes.
template <class T>
void expect_layout(DType dtype, int64_t k, int64_t n) {
  const int64_t n0 = 32 / static_cast<int64_t>(sizeof(T)), k1 = (k + 15) / 16, n1 = (n + n0 - 1) / n0;
  std::vector<T> plain(static_cast<size_t>(k * n));
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<T>(i % 101 + 1);
  EXPECT_EQ(blocked_elements({k, n}, dtype), n1 * k1 * 16 * n0);
  std::vector<std::byte> memory;
  blocked_copy(make_tensor(plain.data(), dtype, {k, n}), memory);
  const T* got = reinterpret_cast<const T*>(memory.data());
  for (int64_t i = 0; i < n1 * k1 * 16 * n0; ++i) {
    const int64_t col = i / (k1 * 16 * n0) * n0 + i % n0, row = i / n0 % (k1 * 16);
    const T wanted = row < k && col < n ? plain[static_cast<size_t>(row * n + col)] : T(0);
    ASSERT_EQ(got[i], wanted) << i;
  }
}

TEST(Blocked, LayoutIsTheVendors) {
  expect_layout<uint16_t>(DType::kHalf, 32, 48);
  expect_layout<uint16_t>(DType::kBFloat16, 19, 21);
  expect_layout<int8_t>(DType::kInt8, 17, 70);
  expect_layout<float>(DType::kFloat, 5, 9);
}

TEST(Blocked, BatchesAreBlockedMatrixByMatrix) {
  const Array plain = Array(DType::kHalf, {2, 19, 21}).random(3);
  std::vector<std::byte> memory, second;
  blocked_copy(plain, memory);
  Tensor one = plain.tensor();
  one.data = one.bytes() + 19 * 21 * 2;
  one.shape = {19, 21}, one.strides = {21, 1};
  blocked_copy(one, second);
  ASSERT_EQ(memory.size(), 2 * second.size());
  EXPECT_TRUE(std::equal(second.begin(), second.end(), memory.begin() + static_cast<ptrdiff_t>(second.size())));
}

TEST(Blocked, ProductsReadItLikeThePlainWeight) {
  for (const DType dtype : {DType::kHalf, DType::kBFloat16, DType::kFloat}) {
    for (const char* name : {"mm", "matmul", "batch_matmul"}) {
      const bool batched = std::string_view(name) == "batch_matmul";
      const Dims left = batched ? Dims{2, 7, 40} : Dims{7, 40}, right = batched ? Dims{2, 40, 50} : Dims{40, 50};
      const Dims turned = batched ? Dims{2, 50, 40} : Dims{50, 40}, result = batched ? Dims{2, 7, 50} : Dims{7, 50};
      const size_t rank = left.size();
      const Array x = Array(dtype, left).random(1), w = Array(dtype, right).random(2),
                  wt = Array(dtype, turned).random(2);
      std::vector<std::byte> memory, turned_memory;
      const Tensor blocked = blocked_copy(w, memory);
      const Tensor blocked_turned = blocked_copy(wt, turned_memory).transposed(rank - 2, rank - 1);
      const auto run = [&](const Tensor& weight) {
        const Array out = Array(dtype, result).filled(9);
        Call(name).set("self", x.tensor()).set("mat2", weight).set("out", out.tensor()).run();
        return out.values();
      };
      EXPECT_EQ(run(blocked), run(w)) << name;
      EXPECT_EQ(run(blocked_turned), run(wt.tensor().transposed(rank - 2, rank - 1))) << name;
      EXPECT_NE(run(blocked), run(wt.tensor().transposed(rank - 2, rank - 1))) << name;
    }
  }
}

TEST(Blocked, RefusesWhatHasNoLayout) {
  const Array wide(DType::kInt64, {4, 4}), vector(DType::kHalf, {4}), x(DType::kHalf, {4, 4}),
      out(DType::kHalf, {4, 2});
  const auto block = [](const Tensor& t) { return Call("block_weight").set("self", t).refusal(); };
  EXPECT_NE(block(wide).find("weights of int64 have no blocked layout"), std::string::npos);
  EXPECT_NE(block(vector).find("a matrix has 2 dimensions"), std::string::npos);
  EXPECT_NE(block(x.tensor().view({4, 2}, {4, 1})).find("must be row-major"), std::string::npos);
  Tensor part = x.tensor().view({4, 2}, {4, 1});
  part.format = kBlockedFormat;
  EXPECT_NE(block(part).find("already"), std::string::npos);
  const std::string text = Call("mm").set("self", x.tensor()).set("mat2", part).set("out", out.tensor()).refusal();
  EXPECT_NE(text.find("only a whole weight and its transpose"), std::string::npos) << text;
}

}  // namespace
}  // namespace npu::ops
