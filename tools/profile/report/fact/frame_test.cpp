// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/frame.h"

#include <gtest/gtest.h>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

/// "name time[inside, …]", microseconds.
std::string to_string(const Frame& frame) {
  std::string out = frame.name + " " + std::to_string(frame.total.time / 1000);
  if (frame.inside.empty()) return out;
  out += "[";
  for (const Frame& one : frame.inside) out += (&one == frame.inside.data() ? "" : ", ") + to_string(one);
  return out + "]";
}

TEST(Modules, AnOperatorIsOfTheModuleThatItsThreadWasInWhenItAskedForIt) {
  Recorded run;
  run.module("net.fc", 10);
  run.module("net", 20);
  run.module("", 30);
  run.module("Adam.step", 40, Phase::kStep);
  run.task("Cast", 50, 51, 5);  // before the first module
  run.task("Mm", 51, 61, 10);   // long after the module has returned
  run.task("Relu", 61, 63, 25);
  run.task("Loss", 63, 66, 30);
  run.task("Apply", 66, 70, 45);
  run.task("Far", 70, 75, 45).launcher = 9;
  run.task("hcom", 75, 81, 45, Unit::kCollective);
  const Modules modules = facts_of(std::vector{run.trace}).front().modules;
  EXPECT_EQ(to_string(modules.all),
            " 31[net 12[fc 10[forward 10[Mm 10]], forward 2[Relu 2]], (collectives) 6[hcom 6], (not known) 5[Far 5], "
            "Adam.step 4[Apply 4], (outside of modules) 4[Loss 3, Cast 1]]");
  EXPECT_TRUE(modules.known);
  EXPECT_EQ(modules.outside, 4'000);
  EXPECT_EQ(modules.unknown, 5'000);
}

TEST(Modules, TheGradientIsOfTheSameModule) {
  Recorded run;
  run.module("net.fc", 0);
  run.module("net.fc", 50, Phase::kGradient, 7);  // in a thread of autograd
  run.task("Mm", 0, 10);
  run.task("Mm", 60, 90).launcher = 7;
  const Modules modules = facts_of(std::vector{run.trace}).front().modules;
  EXPECT_EQ(to_string(modules.all), " 40[net 40[fc 40[gradient of fc 30[Mm 30], forward 10[Mm 10]]]]");
  ASSERT_EQ(modules.rows.size(), 1u);
  EXPECT_EQ(modules.rows[0].name, "net.fc");
  EXPECT_EQ(modules.rows[0].gradient.time, 30'000);
  EXPECT_EQ(modules.rows[0].forward.count, 1u);
}

TEST(Modules, NodesOfGraphsSayItByTheirNames) {
  Recorded run;
  run.node("model/dense/MatMul", "MatMulV2", 0, 10);
  run.node("gradient_tape/model/dense/MatMul/MatMul_1", "MatMulV2", 10, 30);
  run.node("gradients/model/dense/Relu_grad/ReluGrad", "ReluGrad", 30, 33);
  run.node("StatefulPartitionedCall/model/dense/BiasAdd", "BiasAdd", 33, 37);
  run.node("add", "Add", 37, 38);
  run.node("gradient_tape/model/dense/BiasAddGrad", "BiasAddGrad", 38, 40);
  run.node("gradient_tape/loss/Mul", "Mul", 40, 41);
  const Modules modules = facts_of(std::vector{run.trace}).front().modules;
  EXPECT_EQ(to_string(modules.all),
            " 41[model 39[dense 39[gradient of dense 25[MatMulV2 20, ReluGrad 3, BiasAddGrad 2], forward 14[MatMulV2 "
            "10, BiasAdd 4]]], "
            "(outside of modules) 2[Add 1, Mul 1]]");
  EXPECT_EQ(modules.rows[0].name, "model/dense");
  EXPECT_EQ(modules.outside, 2'000);
}

TEST(Modules, LayersStandByTheirNumbers) {
  Recorded run;
  for (const auto& [path, time] : {std::pair("net.9", 0), {"net.10", 10}, {"net.2", 20}}) {
    run.module(path, time);
    run.task("Mm", time, time + time / 10 + 1);
  }
  EXPECT_EQ(to_string(facts_of(std::vector{run.trace}).front().modules.all),
            " 6[net 6[2 3[forward 3[Mm 3]], 9 1[forward 1[Mm 1]], 10 2[forward 2[Mm 2]]]]");
}

TEST(Modules, WithoutAnyNothingIsKnown) {
  Recorded run;
  run.task("Mm", 0, 10);
  EXPECT_FALSE(facts_of(std::vector{run.trace}).front().modules.known);
}

TEST(Modules, WhatMostIsIn) {
  Recorded run;
  const auto of = [&](std::string_view path) { return Owner{Owner::Kind::kModule, Phase::kForward, run.text(path)}; };
  const Owner first = of("net.layers.0"), second = of("net.layers.1"), head = of("net.head");
  EXPECT_EQ(mostly_in(Owners(run.trace), {{first, 60}, {second, 40}}), "mostly in net.layers.0 (60 %)");
  EXPECT_EQ(mostly_in(Owners(run.trace), {{first, 40}, {second, 40}, {head, 20}}), "mostly in net.layers (80 %)");
  EXPECT_EQ(mostly_in(Owners(run.trace), {{first, 40}, {Owner{Owner::Kind::kOutside}, 60}}), "");
  EXPECT_EQ(mostly_in(Owners(run.trace), {}), "");
  run.node("model/dense/MatMul", "MatMulV2", 0, 10);
  const Owner node{Owner::Kind::kNode, Phase::kGradient, run.text("gradient_tape/model/dense/MatMul/MatMul")};
  EXPECT_EQ(mostly_in(Owners(run.trace), {{node, 1}}), "mostly in model/dense (100 %)");
}

}  // namespace
}  // namespace npu::profile
