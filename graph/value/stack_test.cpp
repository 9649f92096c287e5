// SPDX-License-Identifier: Apache-2.0
#include "graph/value/stack.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph_fixture.h"
#include "graph/value/element_limit.h"

namespace npu::graph {
namespace {

const ValueType kFloats = ValueType::tensor(DType::kFloat);

Value row(float first) { return value_of<float>({2}, {first, first + 1}); }

std::string key_of(const Stack& stack) {
  std::string key;
  stack.add_traits(key);
  return key;
}

template <class Work>
std::string refusal(Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNnInvalidParam);
    return e.message();
  }
  return "accepted";
}

TEST(Stack, TheLastComesFirstAndIsTheSameMemory) {
  Stack stack(kFloats, "s", -1);
  const Value first = row(1), second = row(3);
  stack.push(first), stack.push(second);
  EXPECT_EQ(stack.size(), 2);
  EXPECT_EQ(stack.pop().tensor.data, second.tensor.data);
  EXPECT_EQ(stack.pop().tensor.data, first.tensor.data);
}

std::shared_ptr<const Literal> literal_of(float first) {
  const float numbers[] = {first, first + 1};
  const auto* bytes = reinterpret_cast<const std::byte*>(numbers);
  return std::make_shared<const Literal>(
      Literal{kFloats, {2}, std::make_shared<const std::vector<std::byte>>(bytes, bytes + sizeof numbers), nullptr});
}

TEST(Stack, TellsPlansWhatAllOfItIs) {
  Stack stack(kFloats, "s", -1);
  EXPECT_EQ(stack.constant(), Stack::Constant{});
  stack.push(row(1), literal_of(1));
  ASSERT_NE(stack.constant().all, nullptr);
  EXPECT_EQ(*stack.constant().all, *literal_of(1));
  EXPECT_EQ(stack.traits(), "stack of equal float32? [2]");
  const std::string ones = key_of(stack);
  stack.push(row(1), literal_of(1));
  EXPECT_EQ(key_of(stack), ones);
  Stack other(kFloats, "t", -1);
  other.push(row(3), literal_of(3));
  EXPECT_NE(key_of(other), ones) << "plans are made for the elements";
  stack.push(row(3), literal_of(3));
  EXPECT_TRUE(stack.constant().varies);
  EXPECT_NE(key_of(stack), ones);
  stack.pop(), stack.pop(), stack.pop();
  stack.push(row(1), literal_of(1));
  EXPECT_TRUE(stack.constant().varies) << "it varied once";
  other.push(row(3));
  EXPECT_TRUE(other.constant().varies) << "nobody knows what the second is";
}

TEST(Stack, TellsPlansTheShapeOfWhatItHoldsAndNotHowMuch) {
  Stack stack(kFloats, "s", -1), other(kFloats, "t", 7);
  EXPECT_EQ(stack.traits(), "stack of float32?");
  EXPECT_EQ(key_of(stack), key_of(other));
  stack.push(row(1));
  EXPECT_EQ(stack.traits(), "stack of float32? [2]");
  const std::string one = key_of(stack);
  EXPECT_NE(one, key_of(other));
  stack.push(row(1));
  EXPECT_EQ(key_of(stack), one);
  stack.push(value_of<float>({}, {1}));
  EXPECT_EQ(stack.traits(), "stack of float32? mixed");
  EXPECT_NE(key_of(stack), one);
}

TEST(Stack, RefusesWithItsNameAndANumber) {
  Stack stack(kFloats, "mine", 1);
  std::string text = refusal([&] { stack.pop(); });
  EXPECT_TRUE(text.starts_with("Stack[mine_") && text.ends_with("] is empty when calling Pop().")) << text;
  stack.push(row(1));
  text = refusal([&] { stack.push(row(1)); });
  EXPECT_TRUE(text.ends_with("] overflowed its max_size (1)")) << text;
  stack.close();
  for (const auto& change : {std::function<void()>([&] { stack.push(row(1)); }), {[&] { stack.pop(); }}}) {
    text = refusal(change);
    EXPECT_TRUE(text.ends_with("] has already been closed.")) << text;
  }
}

TEST(Stack, HoldsNothingWhereItsSizeIsNone) {
  Stack stack(kFloats, "s", 0);
  EXPECT_NE(refusal([&] { stack.push(value_of<float>({0}, {})); }).find("overflowed its max_size (0)"),
            std::string::npos);
  Stack any(kFloats, "s", INT64_MIN);
  any.push(value_of<float>({0}, {}));
  EXPECT_EQ(any.pop().tensor.shape, Dims{0});
}

TEST(Stack, HasABoundOfValues) {
  check_element_count(kMostElements);
  EXPECT_NE(refusal([] { check_element_count(kMostElements + 1); }).find("a stack"), std::string::npos);
}

TEST(Stack, LetsGoOfWhatItHeld) {
  Stack stack(kFloats, "s", -1);
  const Value value = row(1);
  stack.push(value);
  EXPECT_EQ(value.owner.use_count(), 2);
  stack.close();
  EXPECT_EQ(value.owner.use_count(), 1);
}

}  // namespace
}  // namespace npu::graph
