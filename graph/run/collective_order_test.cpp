// SPDX-License-Identifier: Apache-2.0
#include "graph/run/collective_order.h"

#include <gtest/gtest.h>

#include "graph/graph_fixture.h"

namespace npu::graph {
namespace {

const std::string kWorld = "hccl_world_group";

/// A sum, after `before`.
Edge sum(TestFunction& f, Edge x, const std::string& reduction = "sum", const std::string& group = kWorld) {
  const Edge out = f.node("HcomAllReduce", {x});
  f.with(out, "group", group).with(out, "reduction", reduction);
  return out;
}

std::shared_ptr<Function> reduced_twice(const std::string& name, const std::string& second) {
  TestFunction f(name);
  f.result(sum(f, sum(f, f.argument("x")), second));
  return f.function();
}

std::string text_of(const Function& function, const Program& program, const std::string& group = kWorld) {
  const auto orders = collective_order(function, program);
  const auto found = orders.find(group);
  return found == orders.end() ? "" : found->second.text();
}

TEST(CollectiveOrder, IsToldByGroup) {
  TestFunction f("step");
  const Edge x = f.argument("x");
  const Edge root = f.node("HcomBroadcast", {x, x}, ValueType::tensor(DType::kFloat), 2);
  f.with(root, "group", kWorld).with(root, "root_rank", int64_t{1});
  f.result(sum(f, sum(f, root, "max"), "sum", "pair"));
  EXPECT_EQ(text_of(*f.function(), {}),
            "step\nHcomBroadcast from or to 1 of float32\t?\nHcomBroadcast from or to 1 of float32\t?\n"
            "HcomAllReduce (max) of float32\t?\n");
  EXPECT_EQ(text_of(*f.function(), {}, "pair"), "step\nHcomAllReduce (sum) of float32\t?\n");
}

TEST(CollectiveOrder, LeavesOutMessagesAndShapesThatMayDiffer) {
  TestFunction f("step");
  const Edge x = f.argument("x");
  const Edge parts = f.node("HcomAllToAllV", {x, x, x, x, x});
  f.with(parts, "group", kWorld);
  const Edge sent = f.node("HcomSend", {parts});
  f.with(sent, "group", kWorld).with(sent, "sr_tag", int64_t{3});
  f.result(sent);
  EXPECT_EQ(text_of(*f.function(), {}), "step\nHcomAllToAllV of float32\t\n");
}

TEST(CollectiveOrder, HasTheBodiesOfLoopsOnceAndThoseOfAllBranches) {
  Program program;
  program.add(reduced_twice("body", "max"));
  program.add(reduced_twice("other", "min"));
  TestFunction f("step");
  const Edge x = f.argument("x");
  const Edge looped = f.node("While", {x});
  f.with(looped, "cond", FunctionName{"condition"}).with(looped, "body", FunctionName{"body"});
  const Edge branched = f.node("If", {looped, looped});
  f.with(branched, "then_branch", FunctionName{"other"}).with(branched, "else_branch", FunctionName{"body"});
  f.result(sum(f, branched, "prod"));
  const std::string line = "HcomAllReduce ({}) of float32\t?\n";
  std::string wanted = "step\n";
  for (const char* reduction : {"sum", "max", "sum", "min", "sum", "max", "prod"})
    wanted += fmt::format(fmt::runtime(line), reduction);
  EXPECT_EQ(text_of(*f.function(), program), wanted);
}

}  // namespace
}  // namespace npu::graph
