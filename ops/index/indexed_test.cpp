// SPDX-License-Identifier: Apache-2.0
#include "ops/index/indexed.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace npu::ops {
namespace {

template <class T>
T& field(Operator& op, std::string_view name) {
  return op.def->field(name)->of<T>(op);
}

std::string message_of(Operator& op) {
  op.prepare();
  try {
    op.run();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(Indexed, AnIndexOutOfRangeIsNamedAndNothingIsWritten) {
  std::vector<float> table(12, 1), rows(9, 7);
  std::vector<int64_t> index{0, 4, 9};
  auto op = create(*find_operator("index_select"));
  field<Tensor>(*op, "self") = make_tensor(table.data(), DType::kFloat, {4, 3});
  field<Tensor>(*op, "index") = make_tensor(index.data(), DType::kInt64, {3});
  field<Tensor>(*op, "out") = make_tensor(rows.data(), DType::kFloat, {3, 3});
  EXPECT_EQ(message_of(*op), "index holds 4 at position 1 (row-major); this dimension takes 0 to 3");
  EXPECT_EQ(rows, std::vector<float>(9, 7));
}

TEST(Indexed, AScatterOutOfRangeLeavesItsTargetAlone) {
  std::vector<float> self(6, 1), src(2, 5);
  std::vector<int64_t> index{1, -1};
  auto op = create(*find_operator("scatter"));
  field<Tensor>(*op, "self") = field<Tensor>(*op, "out") = make_tensor(self.data(), DType::kFloat, {6});
  field<Tensor>(*op, "index") = make_tensor(index.data(), DType::kInt64, {2});
  field<Operand>(*op, "src").tensor = make_tensor(src.data(), DType::kFloat, {2});
  EXPECT_NE(message_of(*op).find("-1"), std::string::npos);
  EXPECT_EQ(self, std::vector<float>(6, 1));
}

TEST(Indexed, AnEmptyIndexStandsForNoneBesideOthersAndSelectsNothingAlone) {
  std::vector<int64_t> self(6), place{1}, value{7};
  const Tensor empty = make_tensor(place.data(), DType::kInt64, {0}),
               one = make_tensor(place.data(), DType::kInt64, {1});
  const auto written = [&](std::vector<Tensor> indices) {
    self.assign(6, 0);
    auto op = create(*find_operator("index_put"));
    field<Tensor>(*op, "self") = field<Tensor>(*op, "out") = make_tensor(self.data(), DType::kInt64, {2, 3});
    field<std::vector<Tensor>>(*op, "indices") = std::move(indices);
    field<Tensor>(*op, "values") = make_tensor(value.data(), DType::kInt64, {1});
    EXPECT_EQ(message_of(*op), "");
    return self;
  };
  EXPECT_EQ(written({empty, one}), (std::vector<int64_t>{0, 7, 0, 0, 7, 0}));
  EXPECT_EQ(written({empty}), std::vector<int64_t>(6, 0));
  EXPECT_EQ(written({empty, empty}), std::vector<int64_t>(6, 0));
}

TEST(Indexed, SumsOfHalvesAreRoundedOnce) {
  std::vector<Half> self{Half(1.0f)}, src(1000, Half(0.0004f));
  std::vector<int64_t> index(src.size(), 0);
  auto op = create(*find_operator("index_add"));
  field<Tensor>(*op, "self") = field<Tensor>(*op, "out") = make_tensor(self.data(), DType::kHalf, {1});
  field<Tensor>(*op, "index") = make_tensor(index.data(), DType::kInt64, {1000});
  field<Tensor>(*op, "source") = make_tensor(src.data(), DType::kHalf, {1000});
  EXPECT_EQ(message_of(*op), "");
  EXPECT_NEAR(static_cast<float>(self[0]), 1.4f, 1e-3);
}

// Enough positions for several threads, along rows and across them.
TEST(Indexed, ManyPositionsAreSharedOut) {
  constexpr int64_t kSlots = 50;
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{3, 40000}, {40000, 3}}) {
    std::mt19937 random(9);
    std::vector<float> self(static_cast<size_t>(kSlots * cols)), src(static_cast<size_t>(rows * cols));
    std::vector<int64_t> index(src.size());
    for (size_t i = 0; i < src.size(); ++i) {
      src[i] = static_cast<float>(random() % 100);
      index[i] = static_cast<int64_t>(random() % kSlots);
    }
    std::vector<float> want = self;
    for (size_t i = 0; i < src.size(); ++i)
      want[static_cast<size_t>(index[i] * cols) + i % static_cast<size_t>(cols)] += src[i];
    auto op = create(*find_operator("scatter"));
    field<Tensor>(*op, "self") = field<Tensor>(*op, "out") = make_tensor(self.data(), DType::kFloat, {kSlots, cols});
    field<Tensor>(*op, "index") = make_tensor(index.data(), DType::kInt64, {rows, cols});
    field<Operand>(*op, "src").tensor = make_tensor(src.data(), DType::kFloat, {rows, cols});
    field<int64_t>(*op, "reduction") = 1;
    EXPECT_EQ(message_of(*op), "");
    EXPECT_EQ(self, want) << rows << "x" << cols;
  }
}

TEST(Indexed, RefusesMasksAndWrongShapes) {
  std::vector<float> data(12);
  bool mask[4] = {};
  auto op = create(*find_operator("index"));
  field<Tensor>(*op, "self") = make_tensor(data.data(), DType::kFloat, {4, 3});
  field<std::vector<Tensor>>(*op, "indices") = {make_tensor(mask, DType::kBool, {4})};
  field<Tensor>(*op, "out") = make_tensor(data.data(), DType::kFloat, {4, 3});
  EXPECT_THROW(op->prepare(), Error);
}

}  // namespace
}  // namespace npu::ops
