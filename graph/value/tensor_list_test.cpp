// SPDX-License-Identifier: Apache-2.0
#include "graph/value/tensor_list.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph_fixture.h"

namespace npu::graph {
namespace {

const ValueType kFloat = ValueType::tensor(DType::kFloat);
using Floats = std::vector<float>;

TEST(TensorList, TellsTheShapeOfItsElementsWhileTheyAreAlike) {
  ListType type(kFloat, PartialShape{Dims{kUnknownDim, 3}});
  EXPECT_FALSE(type.element_shape({}));
  EXPECT_EQ(*type.element_shape(PartialShape{Dims{2, kUnknownDim}}), (Dims{2, 3}));
  type.hold({4, 3});
  EXPECT_EQ(*type.element_shape({}), (Dims{4, 3}));
  type.hold({5, 3});
  EXPECT_TRUE(type.mixed);
  EXPECT_FALSE(type.element_shape(PartialShape{Dims{2, 3}}));
  EXPECT_THROW(type.hold({5, 4}), Error);
  EXPECT_THROW(type.hold({3}), Error);
}

TEST(TensorList, TraitsSayWhatPlansDependOn) {
  TensorList list(ListType(kFloat, {}));
  EXPECT_EQ(list.traits(), "list of float32?");
  list.push_back(value_of<float>({2}, {1, 2}));
  list.push_back(value_of<float>({2}, {1, 2}));
  EXPECT_EQ(list.traits(), "list of float32? [2]");
  list.push_back(value_of<float>({1}, {1}));
  EXPECT_EQ(list.traits(), "list of float32? mixed");
}

TEST(TensorList, WhatWasNotSetReadsAsZeros) {
  TensorList list(ListType(kFloat, {}));
  list.elements.resize(3);
  EXPECT_THROW(element_of(0, list, 1, {}), Error);
  EXPECT_EQ(numbers_of<float>(element_of(0, list, 1, PartialShape{Dims{2}})), (Floats{0, 0}));
  list.set(0, value_of<float>({1}, {5}));
  EXPECT_EQ(numbers_of<float>(element_of(0, list, 1, {})), Floats{0});
  EXPECT_THROW(list.position(3), Error);
  EXPECT_THROW(list.position(-1), Error);
}

TEST(TensorList, RowsShareTheTensorsMemory) {
  const Value tensor = value_of<float>({2, 2}, {1, 2, 3, 4});
  const Value row = row_of(tensor, 1);
  EXPECT_EQ(numbers_of<float>(row), (Floats{3, 4}));
  EXPECT_EQ(row.tensor.as<float>(), tensor.tensor.as<float>() + 2);
}

TEST(TensorList, SumsElementByElement) {
  TensorList a(ListType(kFloat, {})), b(ListType(kFloat, {}));
  a.elements.resize(1);
  a.push_back(value_of<float>({2}, {1, 2}));
  b.push_back(value_of<float>({1}, {7}));
  b.push_back(value_of<float>({2}, {10, 20}));
  const auto sum = add_lists(0, a, b);
  EXPECT_EQ(numbers_of<float>(sum->elements[0]), Floats{7});
  EXPECT_EQ(numbers_of<float>(sum->elements[1]), (Floats{11, 22}));
  b.elements.pop_back();
  EXPECT_THROW(add_lists(0, a, b), Error);
}

}  // namespace
}  // namespace npu::graph
