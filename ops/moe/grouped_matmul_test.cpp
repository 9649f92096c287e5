// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "ops/call_fixture.h"

namespace npu::ops {
namespace {

using Tensors = std::vector<Tensor>;
constexpr int64_t kGroups = 2, kInner = 4, kColumns = 4;

struct Rows {
  Array x = Array(DType::kFloat, {3, kInner}).random(1), list = Array(DType::kInt64, {kGroups}).filled(3);
  Array weight = Array(DType::kFloat, {kGroups, kInner, kColumns}).random(2);
  Array out = Array(DType::kFloat, {3, kColumns});
  Call call{"grouped_matmul"};
  Rows() {
    call.set("x", Tensors{x}).set("weight", Tensors{weight}).set("group_list", list.tensor()).set("out", Tensors{out});
    call.set("group_type", int64_t{0}).set("split_item", int64_t{3});
  }
};

TEST(GroupedMatmul, MayWriteOverItsRows) {
  Rows apart, over;
  over.call.set("out", Tensors{over.x});
  apart.call.run();
  over.call.run();
  EXPECT_EQ(over.x.values(), apart.out.values());
}

TEST(GroupedMatmul, AListThatSaysTooMuchEndsWithTheRows) {
  Rows made;
  const Array list = Array(DType::kInt64, {kGroups}).filled(1000);
  made.call.set("group_list", list.tensor());
  Rows right;
  made.call.run();
  right.call.run();
  EXPECT_EQ(made.out.values(), right.out.values());
}

TEST(GroupedMatmul, RefusesWhatItDoesNotCompute) {
  const auto refusal = [](auto&& change) {
    Rows made;
    change(made.call);
    return made.call.refusal();
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_TRUE(text.find(part) != std::string::npos) << text;
  };
  const Array half(DType::kHalf, {3, kInner}), wide(DType::kFloat, {3, 5}), whole(DType::kInt8, {3, kInner});
  const Array longer(DType::kInt64, {3}), narrow(DType::kInt32, {kGroups}), number(DType::kFloat, {1});
  has(refusal([&](Call& c) { c.set("x", Tensors{half}); }), "x is float16, weight is float32");
  has(refusal([&](Call& c) { c.set("x", Tensors{wide}); }), "inner sizes differ");
  has(refusal([&](Call& c) { c.set("x", Tensors{whole}); }), "x is int8, weight is float32");
  has(refusal([&](Call& c) { c.set("group_list", longer.tensor()); }), "groupList is int64[3], there are 2 groups");
  has(refusal([&](Call& c) { c.set("group_list", narrow.tensor()); }), "give int64");
  has(refusal([&](Call& c) { c.set("group_list", Tensor()); }), "groupList is null");
  has(refusal([&](Call& c) { c.set("group_list_type", int64_t{2}); }), "groupListType is 2");
  has(refusal([&](Call& c) { c.set("group_list_type", int64_t{7}); }), "groupListType is 7");
  has(refusal([&](Call& c) { c.set("group_type", int64_t{1}); }), "groupType is 1");
  has(refusal([&](Call& c) { c.set("split_item", int64_t{4}); }), "splitItem is 4");
  has(refusal([&](Call& c) { c.set("split_item", int64_t{0}); }), "out has 1 tensors, there are 2 groups");
  has(refusal([&](Call& c) { c.set("act_type", int64_t{5}); }), "actType is 5");
  has(refusal([&](Call& c) { c.set("offset", Tensors{number}); }), "offset is given");
  has(refusal([&](Call& c) { c.set("scale", Tensors{number}); }), "scale and perTokenScale go with int8");
  has(refusal([&](Call& c) { c.set("bias", Tensors{number}); }), "bias is");
  has(refusal([&](Call& c) { c.set("out", Tensors{half}); }), "out is float16, x is float32");
}

}  // namespace
}  // namespace npu::ops
