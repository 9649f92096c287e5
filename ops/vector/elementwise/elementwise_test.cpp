// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "ops/vector/elementwise/pointwise.h"

namespace npu::ops {
namespace {

template <class T>
Operand operand(std::vector<T>& data, const Dims& shape) {
  return {make_tensor(data.data(), dtype_of<T>, shape), {}};
}

// Runs a registered operator with named operands.
void run(std::string_view name, std::initializer_list<std::pair<std::string_view, Operand>> fields, const Tensor& out) {
  auto op = create(*find_operator(name));
  for (const auto& [field, value] : fields) op->def->field(field)->of<Operand>(*op) = value;
  op->def->field("out")->of<Tensor>(*op) = out;
  op->prepare();
  op->run();
}

TEST(Elementwise, AddsWithBroadcastTransposeAndAlpha) {
  std::vector<float> a(12), b{10, 20, 30}, c(12);
  std::iota(a.begin(), a.end(), 0.0f);
  Tensor at = make_tensor(a.data(), DType::kFloat, {3, 4}).transposed(0, 1);
  run("add", {{"self", {at, {}}}, {"other", operand(b, {3})}, {"alpha", {{}, Scalar(2)}}},
      make_tensor(c.data(), DType::kFloat, {4, 3}));
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j)
      EXPECT_EQ(c[static_cast<size_t>(i * 3 + j)], static_cast<float>(j * 4 + i) + 20.0f * static_cast<float>(j + 1));
  }
}

// Inputs stored along another axis than the output, in tiles that end at the edges: [batch, rows, columns], of which
// the rows of one input are side by side, and the batch of another.
template <class T>
void expect_turned(int64_t batch, int64_t rows, int64_t columns) {
  const auto count = static_cast<size_t>(batch * rows * columns);
  std::vector<T> a(count), b(count);
  std::vector<float> c(count), bias(static_cast<size_t>(columns));
  for (size_t i = 0; i < count; ++i) a[i] = T(static_cast<float>(i % 61)), b[i] = T(static_cast<float>(i % 53));
  std::iota(bias.begin(), bias.end(), 0.5f);
  const Tensor at = make_tensor(a.data(), dtype_of<T>, {batch, columns, rows}).transposed(1, 2);
  const Tensor bt = make_tensor(b.data(), dtype_of<T>, {columns, rows, batch}).transposed(0, 2);
  const Tensor out = make_tensor(c.data(), DType::kFloat, {batch, rows, columns});
  run("add", {{"self", {at, {}}}, {"other", {bt, {}}}, {"alpha", {{}, Scalar(2)}}}, out);
  std::vector<float> d(count);
  run("mul", {{"self", {at, {}}}, {"other", operand(bias, {columns})}},
      make_tensor(d.data(), DType::kFloat, {batch, rows, columns}));
  for (size_t i = 0; i < count; ++i) {
    const auto column = static_cast<int64_t>(i) % columns, row = static_cast<int64_t>(i) / columns % rows;
    const int64_t plane = static_cast<int64_t>(i) / (rows * columns);
    const auto x = static_cast<float>(a[static_cast<size_t>((plane * columns + column) * rows + row)]);
    const auto y = static_cast<float>(b[static_cast<size_t>((column * rows + row) * batch + plane)]);
    ASSERT_EQ(c[i], x + 2 * y) << i;
    ASSERT_EQ(d[i], x * bias[static_cast<size_t>(column)]) << i;
  }
}

TEST(Elementwise, InputsStoredAlongAnotherAxis) {
  expect_turned<float>(3, 65, 300);
  expect_turned<Half>(1, 300, 129);
  expect_turned<int8_t>(2, 333, 257);
  expect_turned<uint8_t>(20, 47, 90);
  expect_turned<double>(2, 64, 64);
  expect_turned<int64_t>(1, 16, 1000);
}

// Long and short rows, more of them than a part holds, in blocks where they are longer than one.
TEST(Elementwise, RowsOfStridedOperands) {
  for (const auto& [outer, rows, length] : {std::array<int64_t, 3>{3, 5, 16}, {40, 30, 70}, {2, 3, 5000}}) {
    std::vector<float> a(static_cast<size_t>(outer * rows * (length + 1))), b(static_cast<size_t>(length));
    std::vector<double> wide(static_cast<size_t>(rows * length));
    std::vector<float> c(static_cast<size_t>(outer * rows * length));
    std::iota(a.begin(), a.end(), 0.0f);
    std::iota(b.begin(), b.end(), 0.5f);
    std::iota(wide.begin(), wide.end(), 0.25);
    // [outer, rows, length], of which rows lie outermost in memory, with a gap behind each of `length` elements.
    Tensor at = make_tensor(a.data(), DType::kFloat, {static_cast<int64_t>(a.size())})
                    .view({outer, rows, length}, {length + 1, outer * (length + 1), 1});
    run("add", {{"self", {at, {}}}, {"other", operand(b, {length})}, {"alpha", {{}, Scalar(2)}}},
        make_tensor(c.data(), DType::kFloat, {outer, rows, length}));
    std::vector<float> d(c.size());
    run("mul", {{"self", {at, {}}}, {"other", {make_tensor(wide.data(), DType::kDouble, {rows, length}), {}}}},
        make_tensor(d.data(), DType::kFloat, {outer, rows, length}));
    for (int64_t i = 0; i < outer * rows * length; ++i) {
      const int64_t o = i / (rows * length), r = i / length % rows, k = i % length;
      const float x = a[static_cast<size_t>((r * outer + o) * (length + 1) + k)];
      ASSERT_EQ(c[static_cast<size_t>(i)], x + 2 * b[static_cast<size_t>(k)]) << o << " " << r << " " << k;
      const double product = static_cast<double>(x) * wide[static_cast<size_t>(r * length + k)];
      ASSERT_EQ(d[static_cast<size_t>(i)], static_cast<float>(product)) << o << " " << r << " " << k;
    }
  }
}

TEST(Elementwise, IntegerResultsWrapLikeTheirType) {
  std::vector<int8_t> a{127, -128}, c(2);
  run("add", {{"self", operand(a, {2})}, {"other", {{}, Scalar(1)}}}, make_tensor(c.data(), DType::kInt8, {2}));
  EXPECT_EQ(c[0], -128);
  EXPECT_EQ(c[1], -127);
}

TEST(Elementwise, InputsThatOverlapTheOutputAreReadBeforeTheyChange) {
  std::vector<float> a(100000);
  std::iota(a.begin(), a.end(), 0.0f);
  Tensor from = make_tensor(a.data(), DType::kFloat, {99999});
  Tensor to = from;
  to.offset = 1;
  run("add", {{"self", {from, {}}}, {"other", {{}, Scalar(1)}}}, to);
  EXPECT_EQ(a[0], 0);
  for (size_t i = 1; i < a.size(); ++i) ASSERT_EQ(a[i], static_cast<float>(i));
}

TEST(Elementwise, EmptyAndZeroDim) {
  std::vector<float> a{3}, c{0};
  run("add", {{"self", operand(a, {})}, {"other", operand(a, {})}}, make_tensor(c.data(), DType::kFloat, {}));
  EXPECT_EQ(c[0], 6);
  run("add", {{"self", operand(a, {0, 4})}, {"other", operand(a, {})}}, make_tensor(c.data(), DType::kFloat, {0, 4}));
  EXPECT_EQ(c[0], 6);
}

TEST(Elementwise, RefusesShapesThatDoNotBroadcast) {
  std::vector<float> a(6), c(6);
  EXPECT_THROW(run("add", {{"self", operand(a, {2, 3})}, {"other", operand(a, {2})}},
                   make_tensor(c.data(), DType::kFloat, {2, 3})),
               Error);
}

TEST(Promote, FollowsTorch) {
  std::vector<Half> h(1);
  std::vector<int64_t> i(1);
  std::vector<double> d(1);
  const Operand half = operand(h, {1}), integer = operand(i, {1}), zero_dim = operand(d, {}), number{{}, Scalar(1.5)};
  const auto of = [](std::initializer_list<const Operand*> list) { return promote(std::vector<const Operand*>(list)); };
  EXPECT_EQ(of({&half, &number}), DType::kHalf);
  EXPECT_EQ(of({&half, &zero_dim}), DType::kHalf);
  EXPECT_EQ(of({&integer, &number}), DType::kFloat);
  EXPECT_EQ(of({&integer, &half}), DType::kHalf);
  EXPECT_EQ(of({&integer, &zero_dim}), DType::kDouble);
}

}  // namespace
}  // namespace npu::ops
