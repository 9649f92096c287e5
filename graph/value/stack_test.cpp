// SPDX-License-Identifier: Apache-2.0
#include "graph/value/stack.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph_fixture.h"

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
