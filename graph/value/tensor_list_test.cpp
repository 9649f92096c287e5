// SPDX-License-Identifier: Apache-2.0
#include "graph/value/tensor_list.h"

#include <gtest/gtest.h>

#include "device/device_fixture.h"
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
}

TEST(TensorList, AnElementThatDoesNotFitWhatWasDeclaredMakesItMixed) {
  ListType type(kFloat, PartialShape{Dims{2}});
  EXPECT_EQ(*type.element_shape({}), (Dims{2}));
  type.hold({3});
  EXPECT_TRUE(type.mixed);
  EXPECT_FALSE(type.element_shape({}));
  EXPECT_EQ(type.declared, PartialShape{Dims{2}});
}

TEST(TensorList, AShapeThatContradictsWhatWasDeclaredDeterminesNone) {
  ListType type(kFloat, PartialShape{Dims{kUnknownDim, 3}});
  EXPECT_FALSE(type.element_shape(PartialShape{Dims{2, 4}}));
  EXPECT_FALSE(type.element_shape(PartialShape{Dims{3}}));
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
  EXPECT_FALSE(list.is_set(1));
  EXPECT_ERROR(unset_element(0, list, {}), Code::kNnInvalidParam,
               "Trying to read an uninitialized tensor but element_shape is not fully defined: <unknown> and no list "
               "element is set.");
  EXPECT_EQ(numbers_of<float>(unset_element(0, list, PartialShape{Dims{2}})), (Floats{0, 0}));
  list.set(0, value_of<float>({1}, {5}));
  EXPECT_EQ(numbers_of<float>(unset_element(0, list, {})), Floats{0});
  EXPECT_EQ(unset_element(0, list, PartialShape{Dims{2}}).tensor.shape, (Dims{2})) << "a whole shape needs no other";
  EXPECT_ERROR(unset_element(0, list, PartialShape{Dims{kUnknownDim, 2}}), Code::kNnInvalidParam,
               "Incompatible ranks during merge: 2 vs. 1");
  EXPECT_ERROR(unset_last(0, list, {}), Code::kNnInvalidParam, "element_shape is not fully defined.<unknown>");
  EXPECT_EQ(unset_last(0, list, PartialShape{Dims{}}).tensor.shape, Dims{});
}

TEST(TensorList, AListInAListHasNoZeros) {
  TensorList list(ListType(ValueType::variant(), PartialShape{Dims{}}));
  list.elements.resize(1);
  EXPECT_ERROR(unset_element(0, list, {}), Code::kNnInvalidParam, "was never set");
}

TEST(TensorList, PositionsAreThoseOfElements) {
  TensorList list(ListType(kFloat, {}));
  list.elements.resize(3);
  EXPECT_EQ(list.position(2), 2);
  for (const int64_t index : {int64_t{3}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    EXPECT_FALSE(list.contains(index));
    EXPECT_ERROR(list.position(index), Code::kNnInvalidParam,
                 fmt::format("Trying to access element {} in a list with 3 elements.", index));
  }
}

TEST(TensorList, AFullListTakesNoMore) {
  TensorList list(ListType(kFloat, {}));
  list.most = 1;
  list.push_back(value_of<float>({}, {1}));
  EXPECT_ERROR(list.push_back(value_of<float>({}, {1})), Code::kNnInvalidParam,
               "Tried to push item into a full list list size: 1 max_num_elements: 1");
}

TEST(TensorList, SharesItsElementsWithItsCopies) {
  TensorList list(ListType(kFloat, {}));
  const Value value = value_of<float>({1}, {5});
  list.push_back(value);
  TensorList copy(list);
  EXPECT_EQ(value.owner.use_count(), 2) << "one for both lists";
  copy.set(0, value_of<float>({1}, {6}));
  copy.elements.append(list.elements);
  copy.elements.insert(1, {});
  EXPECT_EQ(numbers_of<float>(list.elements[0]), Floats{5});
  EXPECT_EQ(numbers_of<float>(copy.elements[0]), Floats{6});
  EXPECT_FALSE(copy.is_set(1));
  copy.elements.erase(1);
  EXPECT_EQ(numbers_of<float>(copy.elements[1]), Floats{5});
}

TEST(TensorList, HasABoundOfElements) {
  constexpr auto kTooMany = static_cast<size_t>(kMostElements) + 1;
  TensorList list(ListType(kFloat, {}));
  EXPECT_ERROR(list.elements.resize(kTooMany), Code::kNnInvalidParam, "16777217 elements are requested");
  EXPECT_ERROR(list.elements.resize(size_t{1} << 40), Code::kNnInvalidParam, "at most 16777216");
  list.elements.resize(size_t{1} << 20);
  EXPECT_EQ(list.elements.size(), size_t{1} << 20) << "16 bytes an element";
}

TEST(TensorList, ShapesAreMergedOrContradictEachOther) {
  const PartialShape open{Dims{kUnknownDim, 3}}, whole{Dims{2, 3}}, other{Dims{2, 4}}, vector{Dims{3}};
  EXPECT_EQ(merged(open, {}), open);
  EXPECT_EQ(merged({}, whole), whole);
  EXPECT_EQ(merged(open, whole), whole);
  EXPECT_TRUE(compatible(open, whole) && compatible({}, vector));
  EXPECT_FALSE(compatible(open, other) || compatible(open, vector));
  EXPECT_ERROR(merged(open, other), Code::kNnInvalidParam, "Incompatible shapes during merge: [?,3] vs. [2,4]");
  EXPECT_ERROR(merged(vector, whole), Code::kNnInvalidParam, "Incompatible ranks during merge: 1 vs. 2");
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
  EXPECT_ERROR(add_lists(0, a, b), Code::kNnInvalidParam,
               "Trying to add two lists of tensors with different lengths. One is 2 and the other is 1");
}

TEST(TensorList, OnlyNumbersOfOneFormAreAdded) {
  const auto list_of = [](const ListType& type, Value value) {
    TensorList list(type);
    list.push_back(std::move(value));
    return list;
  };
  const ListType any(kFloat, {}), pairs(kFloat, PartialShape{Dims{2}}), scalars(kFloat, PartialShape{Dims{}});
  const ListType truths(ValueType::tensor(DType::kBool), {});
  const Value one = value_of<float>({}, {1}), two = value_of<float>({2}, {1, 2});
  Value truth = make_value(0, DType::kBool, {});
  EXPECT_ERROR(add_lists(0, list_of(any, one), list_of(any, two)), Code::kNnInvalidParam,
               "Trying to add two tensors with incompatible element shapes. One is [] and the other is [2]");
  EXPECT_ERROR(add_lists(0, list_of(scalars, one), list_of(pairs, two)), Code::kNnInvalidParam,
               "Trying to add two lists of tensors with incompatible element shapes. One is [] and the other is [2]");
  EXPECT_ERROR(add_lists(0, list_of(any, one), list_of(truths, truth)), Code::kNnInvalidParam,
               "Trying to add two lists of tensors of different dtypes. One is float and the other is bool");
  EXPECT_ERROR(add_lists(0, list_of(truths, truth), list_of(truths, truth)), Code::kNnInvalidParam,
               "Trying to add unsupported dtype 10");
  EXPECT_EQ(sum_type(any, pairs).declared, pairs.declared);
}

TEST(TensorList, OnlyElementsOfOneShapeAreStacked) {
  TensorList list(ListType(kFloat, {}));
  list.push_back(value_of<float>({2}, {1, 2}));
  list.push_back(value_of<float>({}, {3}));
  const Value out = make_value(0, DType::kFloat, {2, 2});
  EXPECT_ERROR(stack_into(out.tensor, list, {0, 1}, {2}), Code::kNnInvalidParam, "element 1 has the shape []");
  list.elements.set(1, {});
  stack_into(out.tensor, list, {1, 0}, {2});
  EXPECT_EQ(numbers_of<float>(out), (Floats{0, 0, 1, 2}));
}

}  // namespace
}  // namespace npu::graph
