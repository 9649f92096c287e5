// SPDX-License-Identifier: Apache-2.0
#include "graph/value/room.h"

#include <gtest/gtest.h>

#include "device/device_fixture.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

// Their bytes in float pass 64 bits, or are none in them.
constexpr int64_t kTooLarge[] = {int64_t{1} << 46, int64_t{1} << 61, int64_t{1} << 62, INT64_MAX};

TEST(Room, OfATensorIsThatOfItsElements) {
  EXPECT_EQ(room_of(DType::kFloat, {2, 3}), 24);
  EXPECT_EQ(room_of(DType::kDouble, {}), 8);
  EXPECT_EQ(room_of(DType::kHalf, {0, int64_t{1} << 62, 4}), 0);
  EXPECT_EQ(room_of(DType::kUInt8, {int64_t{1} << 47}), int64_t{1} << 47);
}

TEST(Room, ATensorThatNoMemoryHoldsIsRefused) {
  for (const int64_t size : kTooLarge) {
    EXPECT_ERROR(room_of(DType::kFloat, {size}), Code::kNnInvalidParam, "larger than any memory");
    EXPECT_ERROR(make_value(0, DType::kFloat, {size}), Code::kNnInvalidParam, "larger than any memory");
  }
  EXPECT_ERROR(room_of(DType::kUInt8, {INT64_MAX, 2}), Code::kNnInvalidParam, "64 bits");
}

TEST(Room, SoIsOneWithANegativeSize) {
  for (const Dims& shape : {Dims{-1}, Dims{-2, -3}, Dims{0, -1}})
    EXPECT_ERROR(make_value(0, DType::kFloat, shape), Code::kNnInvalidParam, "sizes are at least 0");
}

TEST(Room, SoIsAGraphThatMakesOne) {
  TestFunction f("f");
  const Edge sizes = f.argument("sizes", ValueType::tensor(DType::kInt64)), x = f.argument("x");
  f.result(f.node("Neg", {f.node("Fill", {sizes, x})}));
  Program program;
  program.add(f.function());
  Library library(0, [](const Node&, std::span<const Value>) { return std::vector<Value>{}; });
  library.add(program);
  for (const int64_t size : kTooLarge)
    EXPECT_ERROR(library.get("f")->run({value_of<int64_t>({1}, {size}), value_of<float>({}, {1})}),
                 Code::kNnInvalidParam, "larger than any memory");
}

}  // namespace
}  // namespace npu::graph
