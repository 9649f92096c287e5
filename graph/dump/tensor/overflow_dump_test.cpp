// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/overflow_dump.h"

#include <cstring>
#include <limits>

#include "base/json.h"
#include "device/context/state.h"
#include "graph/dump/record/dump_file.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/tensor/dump_fixture.h"
#include "ops/runner/runner.h"

namespace npu::graph {
namespace {

constexpr int kDevice = 3;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// What is done, on a device that saturates and on one that does not.
class OverflowDumps : public DumpTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    DumpTest::SetUp();
    device::set_overflow_mode(kDevice, saturates() ? 0 : 1);
    config.overflows = Overflows::kAll;
  }
  void TearDown() override {
    device::set_overflow_mode(kDevice, 1);
    DumpTest::TearDown();
  }
  static bool saturates() { return GetParam(); }

  static Tensor tensor(std::vector<Half>& from) {
    return make_tensor(from.data(), DType::kHalf, {static_cast<int64_t>(from.size())});
  }
  static void run(const char* name, std::unique_ptr<ops::Operator> op) {
    op->prepare();
    ops::run_on(
        kDevice, *op,
        {[](const void* type, device::TaskName& task) { task.node = task.type = static_cast<const char*>(type); },
         name});
  }
  static void add(const Tensor& self, const Tensor& other, const Tensor& out) {
    auto op = ops::create(*ops::find_operator("add"));
    op->def->field("self")->of<ops::Operand>(*op) = {self, {}};
    op->def->field("other")->of<ops::Operand>(*op) = {other, {}};
    op->def->field("out")->of<Tensor>(*op) = out;
    run("aclnnAdd", std::move(op));
  }
  static void copy(const Tensor& self, const Tensor& out) {
    auto op = ops::create(*ops::find_operator("copy"));
    op->def->field("self")->of<ops::Operand>(*op) = {self, {}};
    op->def->field("out")->of<Tensor>(*op) = out;
    run("aclnnCast", std::move(op));
  }
  /// The words of the only overflow; {} where there is not exactly one.
  Json only(const std::vector<std::string>& names) {
    EXPECT_EQ(names.size(), 3u) << fmt::format("{}", fmt::join(names, "\n"));
    for (const std::string& name : names)
      if (name.ends_with(".json")) return Json::parse(text_of(folder / name));
    return {};
  }
  static size_t records(const std::vector<std::string>& names) {
    return static_cast<size_t>(
        std::count_if(names.begin(), names.end(), [](const auto& name) { return name.ends_with(".json"); }));
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, OverflowDumps, ::testing::Bool(),
                         [](const auto& mode) { return std::string(mode.param ? "Saturating" : "InfNan"); });

TEST_P(OverflowDumps, NameTheNodeThatOverflowsAndNotTheOneBehindIt) {
  begin();
  Layer layer("", kDevice);
  layer.run();
  layer.run({3e38F, 3e38F});
  const std::vector<std::string> names = files();
  const Json words = only(names);
  EXPECT_EQ(words["op_name"], "n_MatMul");
  EXPECT_EQ(words["op_type"], "MatMulV2");
  EXPECT_EQ(words["graph"], "step");
  EXPECT_EQ(words["step"], 1);
  EXPECT_EQ(words["device"], kDevice);
  ASSERT_EQ(words["results"].size(), 1u);
  EXPECT_EQ(words["results"][0]["output"], 0);
  EXPECT_EQ(words["results"][0]["infinities"], 2);
  EXPECT_EQ(words["results"][0]["saturated"], saturates() ? 2 : 0);
  EXPECT_EQ(words["AI Core"]["status"], 0x20);
  EXPECT_EQ(words["AI Core"]["task_id"], words["task"]);
  EXPECT_EQ(words["L2 Atomic Add"]["status"], 0);
}

TEST_P(OverflowDumps, TheRecordNamesTheTaskOfTheTensorsBesideIt) {
  begin();
  Layer("", kDevice).run({3e38F, 3e38F});
  const std::vector<std::string> names = files();
  ASSERT_EQ(names.size(), 3u);
  const std::string step = fmt::format("{}/step/1/0/", kDevice);
  EXPECT_TRUE(names[0].starts_with(step + "MatMulV2.n_MatMul.")) << names[0];
  EXPECT_TRUE(names[1].starts_with(step + "Opdebug.Node_OpDebug.")) << names[1];
  const std::string numbers = names[1].substr((step + "Opdebug.Node_OpDebug.").size());  // task.stream.time
  std::string words = fmt::format("overflow_{}.json", numbers);
  std::replace(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(words.size() - 5), '.', '_');
  EXPECT_EQ(names[2], step + words) << "no name of a dump file";
  const auto tensors = record::parse_name(names[0].substr(step.size())),
             debug = record::parse_name(names[1].substr(step.size()));
  ASSERT_TRUE(tensors && debug);
  EXPECT_EQ(tensors->task, debug->task);
  EXPECT_EQ(tensors->stream, debug->stream);
  const record::DumpFile file((folder / names[1]).string());
  ASSERT_EQ(file.data().outputs.size(), 1u);
  EXPECT_EQ(file.data().outputs[0].data_type, 4);
  ASSERT_EQ(file.blobs().outputs[0].size(), 2048u);
  uint64_t task = 0;
  std::memcpy(&task, file.blobs().outputs[0].data() + 24 + 2 * 8, 8);
  EXPECT_EQ(task, debug->task);
  const record::DumpFile dumped((folder / names[0]).string());
  EXPECT_EQ(floats(dumped.blobs().inputs[0]), (std::vector<float>{3e38F, 3e38F}));
  const float most = saturates() ? std::numeric_limits<float>::max() : std::numeric_limits<float>::infinity();
  EXPECT_EQ(floats(dumped.blobs().outputs[0]), (std::vector<float>{most, -most}));
}

TEST_P(OverflowDumps, OfASumInPlaceTheInputsAreThoseBeforeIt) {
  begin();
  std::vector<Half> x{Half(60000), Half(1)};
  add(tensor(x), tensor(x), tensor(x));
  add(tensor(x), tensor(x), tensor(x));  // follows of the first, where that left an infinity
  const std::vector<std::string> names = files();
  ASSERT_EQ(records(names), saturates() ? 2u : 1u);
  const record::DumpFile dumped((folder / names[0]).string());
  EXPECT_TRUE(names[0].starts_with(fmt::format("{}/Add.aclnnAdd.", kDevice))) << names[0];
  Half before;
  std::memcpy(&before, dumped.blobs().inputs[0].data(), sizeof before);
  EXPECT_EQ(static_cast<float>(before), 60000);
}

TEST_P(OverflowDumps, WhoMovesAnInfinityHasNotMadeIt) {
  begin();
  std::vector<Half> x{Half(static_cast<float>(kInf)), Half(1)}, y(2);
  copy(tensor(x), tensor(y));
  EXPECT_TRUE(files().empty());
}

TEST_P(OverflowDumps, ACastIntoASmallerRangeSaysSo) {
  begin();
  std::vector<float> x{1e6F, 1};
  std::vector<Half> y(2);
  copy(make_tensor(x.data(), DType::kFloat, {2}), tensor(y));
  const Json words = only(files());
  EXPECT_EQ(words["results"][0]["dtype"], "float16");
  EXPECT_EQ(words["AI Core"]["status"], 0x120);
}

TEST_P(OverflowDumps, OnlyTheFirstOfADeviceAreWritten) {
  begin();
  Layer layer("", kDevice);
  for (int i = 0; i < kMostDumpedOverflows + 4; ++i) layer.run({3e38F, 3e38F});
  EXPECT_EQ(records(files()), static_cast<size_t>(kMostDumpedOverflows));
}

TEST_P(OverflowDumps, OfSumsBetweenDevicesAreNoOperators) {
  config.overflows = Overflows::kAtomic;
  begin();
  Layer("", kDevice).run({3e38F, 3e38F});
  EXPECT_TRUE(files().empty());
}

TEST_P(OverflowDumps, NothingIsWrittenWhereNothingOverflows) {
  begin();
  Layer("", kDevice).run();
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace npu::graph
