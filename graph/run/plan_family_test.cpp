// SPDX-License-Identifier: Apache-2.0
#include "graph/run/plan_family.h"

#include <gtest/gtest.h>

#include <numeric>

#include "device/memory/memory.h"
#include "graph/graph_fixture.h"
#include "graph/report/report.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

/// The different elements of two arguments, squared: two plans end where only the run tells how many there are.
TestFunction squares_of_different() {
  TestFunction f("f");
  const Edge x = f.argument("x"), y = f.argument("y");
  for (const Edge in : {x, y}) {
    const Edge different = f.node("Unique", {in}, ValueType::tensor(DType::kFloat), 2);
    (*f.function())[different.node].outputs[1].type = ValueType::tensor(DType::kInt32);
    f.result(f.node("Square", {different}));
  }
  return f;
}

/// 0, 1, … count-1, and zeros up to `size`.
Value counted(int64_t size, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(size));
  std::iota(numbers.begin(), numbers.begin() + count, 0.0F);
  return value_of<float>({size}, std::move(numbers));
}

void add(Library& library, const TestFunction& f) {
  Program program;
  program.add(f.function());
  library.add(program);
}

TEST(PlanFamily, SizesOfRunsDoNotMultiply) {
  Library library(0);
  add(library, squares_of_different());
  const auto f = library.get("f");
  for (int64_t i = 1; i <= 40; ++i)
    for (int64_t j = 1; j <= 40; ++j) {
      const auto out = f->run({counted(40, i), counted(40, j)});
      EXPECT_EQ(out[0].tensor.shape, Dims{i});
      EXPECT_EQ(out[1].tensor.shape, Dims{j});
      EXPECT_EQ(numbers_of<float>(out[1]).back(), static_cast<float>((j - 1) * (j - 1)));
    }
  EXPECT_LE(f->family().size(), 3 * Executable::kMostPlans + 1);
  EXPECT_GE(f->family().size(), Executable::kMostPlans);
}

TEST(PlanFamily, LargeFramesDoNotWaitForLong) {
  Library library(0);
  TestFunction f("f");
  const Edge x = f.argument("x");
  f.result(f.node("Sum", {f.node("Square", {x}), f.constant<int32_t>({1}, {0})}));
  add(library, f);
  const size_t before = device::memory_info(0).used;
  constexpr int64_t kSize = 5 << 20;  // 20 MiB each
  for (int64_t i = 0; i < 12; ++i) library.get("f")->run({counted(kSize + i, 1)});
  EXPECT_EQ(library.get("f")->plan_count(), 12U);
  EXPECT_LE(device::memory_info(0).used - before, 6 * kSize * sizeof(float));
}

TEST(Library, RunsOfARemovedFunctionGoOn) {
  Library library(0);
  add(library, squares_of_different());
  const auto f = library.get("f");
  library.remove("f");
  library.remove("never there");
  EXPECT_THROW(library.get("f"), Error);
  EXPECT_EQ(f->run({counted(4, 2), counted(4, 3)})[1].tensor.shape, Dims{3});
  add(library, squares_of_different());
  EXPECT_NE(library.get("f"), f);
}

TEST(Report, RemembersTheLastThatWent) {
  Report report;
  for (int i = 0; i < 1000; ++i) {
    const Function f("f" + std::to_string(i), tensorflow::dialect());
    report.planned({f, Role::kBody, false, Plan{}, 1, ""});
    report.retire(f.name);
  }
  report.planned({Function("here", tensorflow::dialect()), Role::kBody, false, Plan{}, 1, ""});
  report.retire("never there");
  const std::string text = report.json();
  EXPECT_EQ(text.find("\"f1\""), std::string::npos);
  EXPECT_NE(text.find("\"f999\""), std::string::npos);
  EXPECT_NE(text.find("\"here\""), std::string::npos);
  report.forget("here");
  EXPECT_EQ(report.json().find("\"here\""), std::string::npos);
}

}  // namespace
}  // namespace npu::graph
