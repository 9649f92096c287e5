// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/modelled.h"

#include <gtest/gtest.h>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

TaskRecord& add_product(Recorded& run, int64_t start, int64_t end, const std::string& type = "FLOAT16") {
  TaskRecord& task = run.task("MatMulV2", start, end, 0, Unit::kCube);
  task.inputs = run.text("1024,1024;1024,1024|" + type + ";" + type + "|ND;ND");
  task.outputs = run.text("1024,1024|" + type + "|ND"), task.bytes = 6 << 20;
  return task;
}

Modelled model_of(const Recorded& run, const std::vector<std::string>& names = {}) {
  static std::vector<Trace> traces;
  static std::vector<Facts> all;
  traces = {run.trace}, all = facts_of(traces);
  return modelled(all, names).front();
}

TEST(Modelled, SumsByTypeStreamAndStep) {
  Recorded run;
  run.trace.soc = "Ascend910B3";
  add_product(run, 0, 100).graph = run.text("train");
  TaskRecord& second = add_product(run, 200, 300);
  second.graph = run.text("train"), second.step = 1;
  run.elementwise("Add", 300, 400, "4").stream = 2;
  const Modelled found = model_of(run);
  ASSERT_EQ(found.types.size(), 2u);
  EXPECT_EQ(found.types[0].name, "MatMulV2");
  EXPECT_EQ(found.types[0].measured, 200'000);
  const double once = 2.0 * (1 << 30) / (313e12 * 0.84) * 1e6 + 5;
  EXPECT_NEAR(found.types[0].cells[0].time, 2 * once, 1e-6);
  EXPECT_EQ(found.types[0].cells[0].bound(), Bound::kCube);
  EXPECT_EQ(found.types[1].cells[0].bound(), Bound::kLaunch);
  ASSERT_EQ(found.streams.size(), 2u);
  EXPECT_EQ(found.streams[1].name, "stream 2");
  EXPECT_EQ(found.total.count, 3u);
  EXPECT_EQ(found.step_count, 2u);
  ASSERT_EQ(found.steps.cells.size(), 1u);
  EXPECT_NEAR(found.steps.cells[0].time, 2 * once, 1e-6);
}

TEST(Modelled, SeveralSocsAtOnce) {
  Recorded run;
  add_product(run, 0, 100);
  add_product(run, 100, 200, "DT_BF16");
  const Modelled found = model_of(run, {"910B3", "910A", "310P3", "9999"});
  ASSERT_EQ(found.chips.size(), 2u);
  EXPECT_EQ(found.total.cells[0].left, 0u);
  EXPECT_EQ(found.total.cells[1].left, 1u);
  EXPECT_EQ(found.left.at("Ascend910A: bfloat16, which it does not have"), 1u);
  ASSERT_EQ(found.refused.size(), 2u);
  EXPECT_NE(found.refused[0].find("Ascend310P3: no model: no public number was found for vector rate"),
            std::string::npos);
  EXPECT_NE(found.refused[1].find("9999: no model: no public number of it"), std::string::npos);
}

TEST(Modelled, WithoutShapesOrASocThereIsNone) {
  Recorded run;
  run.task("Add", 0, 10);
  EXPECT_FALSE(model_of(run, {"910B3"}).has_shapes);
  add_product(run, 10, 20);
  EXPECT_NE(model_of(run).refused.at(0).find("--soc names one"), std::string::npos);
}

TEST(Modelled, WhatCannotBeToldIsCounted) {
  Recorded run;
  add_product(run, 0, 100).outputs = run.text("3,3|FLOAT16|ND");
  EXPECT_EQ(model_of(run, {"910B3"}).untold.at("MatMulV2"), 1u);
}

TEST(Modelled, RanksAreThoseOfTheirCommunicatorThatAreSeen) {
  Recorded a(1), b(2);
  for (Recorded* run : {&a, &b}) {
    TaskRecord& task = run->task("HcomAllReduce", 0, 100, 0, Unit::kCollective);
    task.graph = run->text("group"), task.bytes = 1 << 30;
    task.inputs = task.outputs = run->text("268435456|FLOAT|ND");
  }
  const std::vector<Trace> traces{a.trace, b.trace};
  const std::vector<Facts> all = facts_of(traces);
  const std::vector<Modelled> found = modelled(all, {"910B3"});
  EXPECT_NEAR(found[1].total.cells[0].time, (1 << 30) / (28e9 * 0.67) * 1e6 + 10, 1e-3);
  EXPECT_EQ(found[1].total.cells[0].bound(), Bound::kLink);
  EXPECT_EQ(model_of(a, {"910B3"}).total.cells[0].left, 1u);  // alone, nobody knows how many there were
}

}  // namespace
}  // namespace npu::profile
