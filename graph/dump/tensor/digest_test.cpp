// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/digest.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include "base/error.h"
#include "graph/graph_fixture.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"
#include "ops/runner/observer.h"
#include "ops/runner/runner.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

void name_it(const void* name, device::TaskName& task) { task.node = task.type = static_cast<const char*>(name); }

Tensor floats(std::vector<float>& values) {
  return make_tensor(values.data(), DType::kFloat, {static_cast<int64_t>(values.size())});
}

/// In place, where `out` is `x`.
void multiply(std::vector<float>& x, double by, std::vector<float>& out) {
  auto op = ops::create(*ops::find_operator("mul"));
  op->def->field("self")->of<ops::Operand>(*op) = {floats(x), {}};
  op->def->field("other")->of<ops::Operand>(*op) = {{}, Scalar(by)};
  op->def->field("out")->of<Tensor>(*op) = floats(out);
  op->prepare();
  ops::run_on(0, *op, {name_it, "aclnnMuls"});
}

class Digests : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "digestsXXXXXX").string();
    folder = mkdtemp(name.data());
  }
  void TearDown() override {
    stop_digests();
    fs::remove_all(folder);
  }
  std::string path(const char* name) const { return folder / name; }

  fs::path folder;
};

TEST(Digest, IsOfTypeShapeAndEveryElement) {
  std::vector<float> values(100'000, 1.5f);
  const Tensor tensor = make_tensor(values.data(), DType::kFloat, {1000, 100});
  std::set<uint64_t> all{digest_of(tensor)};
  all.insert(digest_of(make_tensor(values.data(), DType::kFloat, {100, 1000})));
  all.insert(digest_of(make_tensor(values.data(), DType::kInt32, {1000, 100})));
  for (const size_t at : {size_t{0}, size_t{1}, size_t{7}, size_t{50'000}, values.size() - 1}) {
    values[at] = -1.5f;
    all.insert(digest_of(tensor));
    values[at] = 1.5f;
  }
  EXPECT_EQ(all.size(), 8u);
  EXPECT_TRUE(all.contains(digest_of(tensor)));
}

TEST(Digest, TellsElementsThatChangedPlaces) {
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const uint64_t before = digest_of(floats(values));
  for (size_t i = 1; i < values.size(); ++i) {
    std::swap(values[0], values[i]);
    EXPECT_NE(digest_of(floats(values)), before) << i;
    std::swap(values[0], values[i]);
  }
}

TEST(Digest, IsOfTheElementsWhereverTheyAre) {
  std::vector<float> rows{1, 2, 3, 4, 5, 6}, columns{1, 4, 2, 5, 3, 6};
  Tensor turned = make_tensor(columns.data(), DType::kFloat, {2, 3});
  turned.strides = {1, 2};
  EXPECT_EQ(digest_of(turned), digest_of(make_tensor(rows.data(), DType::kFloat, {2, 3})));
  Tensor none = make_tensor(nullptr, DType::kFloat, {0, 3});
  EXPECT_NE(digest_of(none), digest_of(make_tensor(nullptr, DType::kFloat, {3, 0})));
}

TEST_F(Digests, AreOfWhatWasReadBeforeItRan) {
  std::vector<float> x{1, 2}, y(2);
  const uint64_t before = digest_of(floats(x));
  start_digests({.file = path("run.digest")});
  multiply(x, 2, y);
  multiply(x, 2, x);
  multiply(x, 3, x);
  EXPECT_TRUE(stop_digests());
  multiply(x, 2, x);
  const record::DigestFile file(path("run.digest"));
  EXPECT_TRUE(file.complete());
  ASSERT_EQ(file.tasks().size(), 3u);
  const auto& [first, in_place, by_three] = std::tie(file.tasks()[0], file.tasks()[1], file.tasks()[2]);
  EXPECT_EQ(first.type, "aclnnMuls");
  EXPECT_EQ(first.inputs, std::vector<uint64_t>{before});
  EXPECT_EQ(first.outputs, std::vector<uint64_t>{digest_of(floats(y))});
  EXPECT_EQ(in_place.inputs, first.inputs);
  EXPECT_EQ(in_place.outputs, first.outputs);
  EXPECT_EQ(in_place.parameters, first.parameters);
  EXPECT_NE(by_three.parameters, first.parameters);
}

TEST_F(Digests, OfGraphsNameTheNodeAndTheStep) {
  TestFunction f("step");
  const Edge x = f.argument("x"), y = f.node("Log", {x});
  f.result(f.node("MatMul", {y, y}));
  Library library{0, {}};
  Program program;
  program.add(f.function());
  library.add(program);
  start_digests({.file = path("run.digest")});
  for (int run = 0; run < 2; ++run) library.get("step", Role::kRoot)->run({value_of<float>({2, 2}, {1, 1, 2, 3})});
  stop_digests();
  const record::DigestFile file(path("run.digest"));
  ASSERT_GE(file.tasks().size(), 2u);
  EXPECT_EQ(file.tasks().front().lane.graph, "step");
  EXPECT_EQ(file.tasks().front().step, 0);
  EXPECT_EQ(file.tasks().back().step, 1);
  EXPECT_EQ(file.tasks().front().outputs, file.tasks()[file.tasks().size() / 2].outputs);
}

TEST_F(Digests, AProcessThatRunsNothingLeavesNoFileAndAnotherOneDoesNotTakeItsName) {
  start_digests({.file = path("run.digest")});
  stop_digests();
  EXPECT_TRUE(fs::is_empty(folder));
  std::vector<float> x{1};
  for (int run = 0; run < 2; ++run) {
    start_digests({.file = path("run.digest")});
    for (int i = 0; i <= run; ++i) multiply(x, 1, x);
    stop_digests();
  }
  EXPECT_EQ(record::DigestFile(path("run.digest")).tasks().size(), 1u);
  EXPECT_EQ(record::DigestFile(path("run.2.digest")).tasks().size(), 2u);
}

TEST_F(Digests, TellOfOneOperator) {
  std::vector<std::string> told;
  std::vector<float> x{1};
  start_digests({.file = path("run.digest"), .place = record::Place{0, 0, 1, ""}, .tell = [&](const std::string& type) {
                   told.push_back(fmt::format("{} {}", type, x[0]));
                 }});
  for (int run = 0; run < 3; ++run) multiply(x, 2, x);
  stop_digests();
  EXPECT_EQ(told, std::vector<std::string>{"aclnnMuls 4"});
}

TEST_F(Digests, OfAFullDiskEndWithOneLineAndTheComputationGoesOn) {
  std::vector<std::string> told;
  std::vector<float> x{1};
  start_digests({.file = path("run.digest"), .fail = [&](const std::string& text) { told.push_back(text); }});
  fs::remove_all(folder);
  multiply(x, 2, x);
  stop_digests();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("run.digest: No such file or directory; the computation goes on"), std::string::npos);
  EXPECT_EQ(x[0], 2);
}

TEST_F(Digests, AreWrittenOnceAtATimeAndIntoAFolder) {
  EXPECT_THROW(start_digests({.file = path("nowhere/run.digest")}), Error);
  start_digests({.file = path("run.digest")});
  EXPECT_THROW(start_digests({.file = path("run.digest")}), Error);
  EXPECT_TRUE(stop_digests());
  EXPECT_FALSE(stop_digests());
  EXPECT_FALSE(ops::observed());
}

}  // namespace
}  // namespace npu::graph
