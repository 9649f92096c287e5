// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/tensor_dump.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <thread>

#include "base/error.h"
#include "graph/dump/record/dump_file.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/mapping.h"
#include "graph/dump/tensor/dump_fixture.h"
#include "graph/dump/tensor/statistics.h"
#include "ops/runner/runner.h"

namespace npu::graph {
namespace {

using Dump = DumpTest;

TEST_F(Dump, WritesWhatANodeReadAndWrote) {
  config.inputs = true;
  begin();
  Layer layer;
  layer.run();
  layer.run();
  const std::vector<std::string> names = files();
  ASSERT_EQ(names.size(), 4u);
  EXPECT_TRUE(names[0].starts_with("0/step/1/0/MatMulV2.n_MatMul.1.0.")) << names[0];
  EXPECT_TRUE(names[1].starts_with("0/step/1/0/Relu.n_Relu.2.0.")) << names[1];
  EXPECT_TRUE(names[3].starts_with("0/step/1/1/Relu.n_Relu.2.0.")) << names[3];
  const record::DumpFile file((folder / names[0]).string());
  EXPECT_EQ(file.data().op_name, "n_MatMul");
  ASSERT_EQ(file.data().inputs.size(), 2u);
  EXPECT_EQ(file.data().inputs[1].shape, (record::Shape{2, 2}));
  EXPECT_EQ(file.data().inputs[1].data_type, 1);
  EXPECT_EQ(floats(file.blobs().inputs[1]), (std::vector<float>{1, -1, 1, -1}));
  EXPECT_EQ(floats(file.blobs().outputs[0]), (std::vector<float>{3, -3}));
  EXPECT_EQ(file.data().outputs[0].original_op.name, "n_MatMul");
}

TEST_F(Dump, TakesTheStepsAndLayersThatAreAskedFor) {
  config.steps = StepSet::parse("1|3-4");
  config.layers = {"n_Relu"};
  begin();
  Layer layer;
  for (int i = 0; i < 6; ++i) layer.run();
  const std::vector<std::string> names = files();
  ASSERT_EQ(names.size(), 3u);
  // The index is the step, where steps are asked for.
  EXPECT_TRUE(names[0].starts_with("0/step/1/1/Relu.")) << names[0];
  EXPECT_TRUE(names[2].starts_with("0/step/1/4/Relu.")) << names[2];
}

TEST_F(Dump, OfOtherGraphsNothingIsWritten) {
  config.models["another"] = {};
  begin();
  Layer().run();
  EXPECT_TRUE(files().empty());
}

TEST_F(Dump, StatisticsAreOneLineATensor) {
  config.statistics = true;
  begin();
  Layer().run();
  const std::vector<std::string> names = files();
  ASSERT_EQ(names.size(), 2u);
  EXPECT_TRUE(names[0].ends_with(".csv"));
  EXPECT_EQ(text_of(folder / names[0]),
            "Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,Min Value,Avg Value,l2norm,Nan Count,"
            "Negative Inf Count,Positive Inf Count\n"
            "Output,0,8,DT_FLOAT,ND,1x2,2,3,-3,0,4.242640687119285,0,0,0\n");
}

TEST_F(Dump, CallsOutsideOfGraphsLieInTheFolderOfTheDevice) {
  begin();
  std::vector<float> x{1, 2, 3, 4};
  Tensor self = make_tensor(x.data(), DType::kFloat, {2, 2}), turned = self.transposed(0, 1);
  auto op = ops::create(*ops::find_operator("add"));
  op->def->field("self")->of<ops::Operand>(*op) = {self, {}};
  op->def->field("other")->of<ops::Operand>(*op) = {self, {}};
  op->def->field("out")->of<Tensor>(*op) = turned;
  op->prepare();
  const auto name = [](const void*, device::TaskName& task) { task.node = task.type = "aclnnAdd"; };
  ops::run_on(1, *op, {name, nullptr});
  const std::vector<std::string> names = files();
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(names[0].starts_with("1/Add.aclnnAdd.0.0.")) << names[0];
  // Whatever the strides, elements are written in the order of the shape.
  EXPECT_EQ(floats(record::DumpFile((folder / names[0]).string()).blobs().outputs[0]),
            (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(Dump, ALongNameStandsInMapping) {
  begin();
  const std::string name(300, 'x');
  Layer(name).run();
  const std::vector<std::string> names = files();
  ASSERT_EQ(names.size(), 3u);
  const fs::path step = folder / "0/step/1/0";
  const record::Mapping mapping = record::read_mapping(step.string());
  ASSERT_EQ(mapping.size(), 1u);
  EXPECT_TRUE(fs::exists(step / mapping.begin()->first));
  const auto parsed = record::parse_name(mapping.begin()->second);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->op_name, name);
}

TEST_F(Dump, AFullDiskEndsTheDumpAndNothingElse) {
  begin();
  Layer layer;
  layer.run();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tiny{16, before.rlim_max};
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  stop_dump();
  begin();
  setrlimit(RLIMIT_FSIZE, &tiny);
  for (int i = 0; i < 3; ++i) layer.run();
  stop_dump();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("MatMul"), std::string::npos) << told[0];
  EXPECT_TRUE(told[0].find("File too large") != std::string::npos) << told[0];
}

TEST_F(Dump, OfAFileThatFailsNothingStaysAndWhatWasWrittenDoes) {
  begin();
  Layer("a").run();
  // Files that are still written begin with a dot.
  const auto written = [&] {
    const fs::path run = folder / "0/step/1/0";
    return !fs::exists(run) ? 0
                            : std::ranges::count_if(fs::directory_iterator(run), [](const fs::directory_entry& one) {
                                return !one.path().filename().string().starts_with('.');
                              });
  };
  while (written() < 2) std::this_thread::yield();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tiny{16, before.rlim_max};
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tiny);
  Layer("b").run();
  const std::vector<std::string> names = files();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(told.size(), 1u);
  ASSERT_EQ(names.size(), 2u);
  for (const std::string& name : names) EXPECT_NO_THROW(record::DumpFile((folder / name).string())) << name;
}

TEST_F(Dump, AFolderThatCannotBeMadeEndsTheDump) {
  begin();
  std::ofstream(folder / "0") << "in the way";
  Layer layer;
  for (int i = 0; i < 3; ++i) layer.run();
  EXPECT_EQ(files(), std::vector<std::string>{"0"});
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("0/step/1/0"), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("Not a directory"), std::string::npos) << told[0];
}

TEST_F(Dump, AFolderThatCannotBeWrittenIsRefused) {
  config.path = "/sys";  // for nobody
  try {
    begin();
    FAIL() << "it began";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidDumpConfig);
    EXPECT_NE(error.message().find("dump_path /sys: "), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("choose a folder that is there and can be written"), std::string::npos);
  }
}

TEST_F(Dump, AFolderThatIsNotThereIsRefused) {
  config.path += "/missing";
  try {
    begin();
    FAIL() << "it began";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidDumpConfig);
    EXPECT_NE(error.message().find("/missing is no folder; make it first"), std::string::npos) << error.message();
  }
}

TEST_F(Dump, OnlyOneRunsAtATime) {
  begin();
  EXPECT_THROW(begin(), Error);
  EXPECT_TRUE(stop_dump());
  EXPECT_FALSE(stop_dump());
  const std::string first = folder.string();
  begin();
  EXPECT_NE(folder.string(), first);  // even within one second
}

TEST(StepSet, TakesNumbersAndRanges) {
  const StepSet steps = StepSet::parse("0|3-5|10");
  for (const int64_t step : {0, 3, 4, 5, 10}) EXPECT_TRUE(steps.contains(step)) << step;
  for (const int64_t step : {1, 2, 6, 9, 11}) EXPECT_FALSE(steps.contains(step)) << step;
  EXPECT_TRUE(StepSet::parse("").contains(7));
  for (const char* wrong : {"x", "5-3", "1||2", "-1", "1-", "0|5-x", "1 2"})
    EXPECT_THROW(StepSet::parse(wrong), Error) << wrong;
  std::string many = "0";
  for (int i = 1; i < 100; ++i) many += fmt::format("|{}", i);
  EXPECT_TRUE(StepSet::parse(many).contains(99));
  EXPECT_THROW(StepSet::parse(many + "|100"), Error);
}

TEST(Statistics, LookAtFiniteElementsAndCountTheOthers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> x(2500, 1);
  x[3] = -5, x[2000] = 7, x[9] = kInf, x[10] = -kInf, x[11] = -kInf, x[12] = std::nanf("");
  const Statistics s = statistics_of(make_tensor(x.data(), DType::kFloat, {2500}));
  EXPECT_EQ(s.most, 7);
  EXPECT_EQ(s.least, -5);
  EXPECT_DOUBLE_EQ(s.mean, (2494.0 - 5 + 7) / 2496);
  EXPECT_DOUBLE_EQ(s.l2norm, std::sqrt(2494.0 + 25 + 49));
  EXPECT_EQ(s.nans, 1);
  EXPECT_EQ(s.positive_infinities, 1);
  EXPECT_EQ(s.negative_infinities, 2);
}

TEST(Statistics, OfEveryTypeAndOfNothing) {
  std::vector<int8_t> whole{-128, 127, 0};
  const Statistics bytes = statistics_of(make_tensor(whole.data(), DType::kInt8, {3}));
  EXPECT_EQ(bytes.least, -128);
  EXPECT_EQ(bytes.most, 127);
  std::vector<Complex64> complex{{3, 4}, {0, 0}};
  EXPECT_EQ(statistics_of(make_tensor(complex.data(), DType::kComplex64, {2})).most, 5);
  const Statistics none = statistics_of(make_tensor(nullptr, DType::kFloat, {0}));
  EXPECT_TRUE(std::isnan(none.mean));
  EXPECT_EQ(none.nans, 0);
}

}  // namespace
}  // namespace npu::graph
