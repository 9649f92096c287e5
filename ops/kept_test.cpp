// SPDX-License-Identifier: Apache-2.0
// Kernels that keep what they make of weights compute what they compute without, run after run; weights at another
// address are prepared anew.
#include "ops/kept.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

template <class T>
T& field(Operator& op, std::string_view name) {
  return op.def->field(name)->of<T>(op);
}

void expect_close(const Array& got, const Array& wanted) {
  const std::vector<double> a = got.values(), b = wanted.values();
  double largest = 0;
  for (const double x : b) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 4 * largest * std::ldexp(1, -24)) << "element " << i;
}

TEST(Kept, IsMadeOnceForEachOperand) {
  Kept kept;
  int made = 0, one = 0, other = 0;
  const auto make = [&](std::byte* to) { to[0] = std::byte(++made); };
  EXPECT_EQ(kept.of(&one, 64, make)[0], std::byte{1});
  EXPECT_EQ(kept.of(&one, 64, make)[0], std::byte{1});
  EXPECT_EQ(kept.of(&other, 64, make)[0], std::byte{2});
  EXPECT_EQ(made, 2);
}

/// An operator with two operands, kept and not, run three times on two sets of weights. Small numbers that are
/// multiples of 1/8 have exact sums, whichever kernel adds them up.
void compare(const char* name, const char* right, const char* flag, const Dims& weight, const Array& out,
             const std::function<void(Operator&)>& set) {
  const Array first = Array(DType::kFloat, weight).random(2), second = Array(DType::kFloat, weight).random(3);
  const auto make = [&](bool kept) {
    auto op = create(*find_operator(name));
    set(*op);
    field<Tensor>(*op, right) = first, field<bool>(*op, flag) = kept;
    field<Tensor>(*op, "out") = out;
    op->prepare();
    return op;
  };
  const auto kept = make(true), plain = make(false);
  for (const Array* now : {&first, &first, &second}) {
    for (Operator* op : {plain.get(), kept.get()}) field<Tensor>(*op, right).data = now->tensor().data, op->moved();
    plain->run();
    const Array wanted = Array(DType::kFloat, out.tensor().shape).filled(0);
    const std::vector<double> values = out.values();
    size_t i = 0;
    wanted.each([&](int64_t offset) { wanted.tensor().as<float>()[offset] = static_cast<float>(values[i++]); });
    kept->run();
    expect_close(out, wanted);
  }
}

TEST(Kept, ConvolutionsOfEveryKernelAreTheSame) {
  struct Case {
    Dims image, weight;
    int64_t groups, stride = 1;
  };
  // Products of pixels, the house's kernel, oneDNN's tiles, depthwise.
  for (const Case& c : {Case{{1, 64, 14, 14}, {128, 64, 1, 1}, 1}, Case{{3, 40, 9, 9}, {24, 40, 1, 1}, 1},
                        Case{{1, 96, 3, 3}, {64, 96, 1, 1}, 1}, Case{{2, 48, 15, 15}, {64, 48, 1, 1}, 1, 2},
                        Case{{1, 32, 20, 20}, {64, 32, 3, 3}, 1}, Case{{2, 3, 40, 40}, {32, 3, 7, 7}, 1},
                        Case{{1, 48, 24, 24}, {48, 1, 3, 3}, 48}}) {
    SCOPED_TRACE(fmt::format("{}", c.weight));
    const std::vector<size_t> last{0, 2, 3, 1};
    const Array image = Array(DType::kFloat, c.image, last).random(1);
    const Array bias = Array(DType::kFloat, {c.weight[0]}).random(4);
    const int64_t pad = c.weight[2] / 2;
    const Array out(DType::kFloat,
                    {c.image[0], c.weight[0], (c.image[2] - 1) / c.stride + 1, (c.image[3] - 1) / c.stride + 1}, last);
    compare("convolution", "weight", "kept_weight", c.weight, out, [&](Operator& op) {
      field<Tensor>(op, "input") = image;
      field<Tensor>(op, "bias") = bias;
      field<std::vector<int64_t>>(op, "stride") = {c.stride, c.stride};
      field<std::vector<int64_t>>(op, "padding") = {pad, pad};
      field<std::vector<int64_t>>(op, "dilation") = {1, 1};
      field<int64_t>(op, "groups") = c.groups;
    });
  }
}

TEST(Kept, ProductsAreTheSame) {
  for (const int64_t rows : {1, 5, 64, 300}) {
    SCOPED_TRACE(rows);
    const Array left = Array(DType::kFloat, {rows, 256}).random(1);
    const Array out(DType::kFloat, {rows, 384});
    compare("matmul", "mat2", "kept_mat2", {256, 384}, out, [&](Operator& op) { field<Tensor>(op, "self") = left; });
  }
}

}  // namespace
}  // namespace npu::ops
