// SPDX-License-Identifier: Apache-2.0
#include "ops/runner/observer.h"

#include <gtest/gtest.h>

#include "ops/call_fixture.h"
#include "ops/runner/runner.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

constexpr int kDevice = 1;

/// Writes down what it is shown.
class Recorder final : public Observer {
 public:
  struct Note final : Watch {
    explicit Note(Recorder& to) : recorder(to) {}
    void finished(const Execution& e) override { recorder.ends.push_back(e); }
    void failed(const Execution& e, const Error& error) override {
      recorder.errors.push_back(e.name.node + ": " + error.message());
    }
    Recorder& recorder;
  };
  std::unique_ptr<Watch> start(const Execution& e) override {
    starts.push_back(e);
    for (const Seen& seen : e.inputs) before.push_back(seen.tensor.as<float>()[0]);
    return e.name.node == ignored ? nullptr : std::make_unique<Note>(*this);
  }
  std::vector<Execution> starts, ends;
  std::vector<float> before;  ///< the first element of each input, read before the task
  std::vector<std::string> errors;
  std::string ignored;
};

class Observers : public ::testing::Test {
 protected:
  void SetUp() override { add_observer(recorder); }
  void TearDown() override { remove_observer(*recorder); }
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
};

void name_it(const void* name, device::TaskName& task) { task.node = static_cast<const char*>(name); }

std::unique_ptr<Operator> addition(const Tensor& self, const Tensor& other, const Tensor& out) {
  auto op = create(*find_operator("add"));
  op->def->field("self")->of<Operand>(*op) = {self, {}};
  op->def->field("other")->of<Operand>(*op) = {other, {}};
  op->def->field("out")->of<Tensor>(*op) = out;
  op->prepare();
  return op;
}

TEST_F(Observers, SeeATaskBeforeAndAfterItRuns) {
  std::vector<float> x{1, 2}, y{10, 20};
  const Tensor a = make_tensor(x.data(), DType::kFloat, {2}), b = make_tensor(y.data(), DType::kFloat, {2});
  run_on(kDevice, *addition(a, b, a), {name_it, "sum"});
  ASSERT_EQ(recorder->starts.size(), 1u);
  ASSERT_EQ(recorder->ends.size(), 1u);
  const Execution& seen = recorder->ends.front();
  EXPECT_EQ(seen.name.node, "sum");
  EXPECT_EQ(seen.device, kDevice);
  ASSERT_EQ(seen.inputs.size(), 2u);
  EXPECT_EQ(seen.inputs[0].field, "self");
  EXPECT_EQ(seen.inputs[1].field, "other");
  // It was written in place: before the task the input was there.
  EXPECT_EQ(recorder->before, (std::vector<float>{1, 10}));
  ASSERT_EQ(seen.outputs.size(), 1u);
  EXPECT_EQ(seen.outputs[0].tensor.as<float>()[1], 22);
}

TEST_F(Observers, AreToldTheShapeThatTheDataDecide) {
  std::vector<float> x{0, 3, 0, 5};
  std::vector<int64_t> at(4);
  Tensor client = make_tensor(at.data(), DType::kInt64, {4, 1});
  auto op = create(*find_operator("nonzero"));
  op->def->field("self")->of<Tensor>(*op) = make_tensor(x.data(), DType::kFloat, {4});
  Tensor& out = op->def->field("out")->of<Tensor>(*op);
  out = client;
  out.origin = &client;
  op->prepare();
  run_on(kDevice, *op, {name_it, "nonzero"});
  EXPECT_EQ(client.shape, (Dims{2, 1}));
  EXPECT_EQ(recorder->ends.front().outputs.front().tensor.shape, (Dims{2, 1}));
  EXPECT_EQ(out.origin, &client);
}

TEST_F(Observers, AreToldOfEachOverflowOnADeviceThatSaturates) {
  std::vector<Half> x{Half(60000), Half(1)}, y(2), z(2);
  const Tensor a = make_tensor(x.data(), DType::kHalf, {2}), b = make_tensor(y.data(), DType::kHalf, {2});
  device::set_overflow_mode(kDevice, 0);
  run_on(kDevice, *addition(a, a, b), {name_it, "first"});
  run_on(kDevice, *addition(b, b, make_tensor(z.data(), DType::kHalf, {2})), {name_it, "second"});  // the word is set
  device::set_overflow_mode(kDevice, 1);
  for (const Execution& seen : recorder->ends) {
    ASSERT_EQ(seen.overflows.size(), 1u) << seen.name.node;
    EXPECT_EQ(seen.overflows[0].overflow.node, seen.name.node);
    EXPECT_EQ(seen.overflows[0].overflow.infinities, 1);
    EXPECT_EQ(seen.overflows[0].data, seen.outputs[0].tensor.bytes());
    EXPECT_TRUE(seen.computes);
  }
}

TEST_F(Observers, HearOfAFailure) {
  struct Failing final : Operator {
    void prepare() override {}
    void run() override { fail(Code::kNnInvalidParam, "index 7 is out of range"); }
  } op;
  const OperatorDef def{"failing", "test", {}, nullptr};
  op.def = &def;
  EXPECT_THROW(run_on(kDevice, op, {name_it, "lookup"}), Error);
  EXPECT_EQ(recorder->errors, (std::vector<std::string>{"lookup: index 7 is out of range"}));
  EXPECT_TRUE(recorder->ends.empty());
}

TEST_F(Observers, WhoIsNotInterestedHearsNoEnd) {
  recorder->ignored = "sum";
  std::vector<float> x{1}, y{2};
  const Tensor a = make_tensor(x.data(), DType::kFloat, {1}), b = make_tensor(y.data(), DType::kFloat, {1});
  run_on(kDevice, *addition(a, b, a), {name_it, "sum"});
  EXPECT_EQ(recorder->starts.size(), 1u);
  EXPECT_TRUE(recorder->ends.empty());
}

TEST(Observer, SeesNothingOnceItIsRemoved) {
  const auto recorder = std::make_shared<Recorder>();
  add_observer(recorder);
  EXPECT_TRUE(observed());
  remove_observer(*recorder);
  EXPECT_FALSE(observed());
  std::vector<float> x{1}, y{2};
  const Tensor a = make_tensor(x.data(), DType::kFloat, {1}), b = make_tensor(y.data(), DType::kFloat, {1});
  run_on(kDevice, *addition(a, b, a), {name_it, "sum"});
  EXPECT_TRUE(recorder->starts.empty());
}

/// Keeps what is written down of operators.
class Writer final : public TaskWriter {
 public:
  void write(const RanOperator& ran) override {
    calls.emplace_back(ran.call), starts.push_back(ran.start);
    if (const Field* const field = ran.op.def->field("out"); field != nullptr) told = field->of<Tensor>(ran.op);
    ran.shapes.correct(told);
  }
  void write(const RanNode& ran) override { nodes.emplace_back(ran.name); }
  void write(const Execution& execution, int64_t) override { executions.push_back(execution.name.node); }
  std::vector<std::string> calls, nodes, executions;
  std::vector<int64_t> starts;
  Tensor told;  ///< the last output
};

class TaskWriters : public ::testing::Test {
 protected:
  void SetUp() override { set_task_writer(&writer); }
  void TearDown() override { set_task_writer(nullptr); }
  static void add(const char* call) {
    std::vector<float> x{1}, y{2};
    const Tensor a = make_tensor(x.data(), DType::kFloat, {1}), b = make_tensor(y.data(), DType::kFloat, {1});
    run_on(kDevice, *addition(a, b, a), {name_it, "named", call});
  }
  Writer writer;
};

TEST_F(TaskWriters, HearOfAnOperatorOnceWhoeverLooksOn) {
  EXPECT_TRUE(observed());
  add("aclnnAdd");
  const auto recorder = std::make_shared<Recorder>();
  add_observer(recorder);
  add("aclnnAdds");
  remove_observer(*recorder);
  add(nullptr);  // is no call of a client
  EXPECT_EQ(writer.calls, (std::vector<std::string>{"aclnnAdd", "aclnnAdds"}));
  EXPECT_TRUE(writer.executions.empty());
  ASSERT_EQ(recorder->ends.size(), 1u);
  EXPECT_EQ(recorder->ends[0].name.node, "named");
  EXPECT_EQ(recorder->ends[0].inputs.size(), 2u);
  EXPECT_GT(writer.starts[0], 0);
  EXPECT_LT(writer.starts[0], writer.starts[1]);
  set_task_writer(nullptr);
  EXPECT_FALSE(observed());
}

TEST_F(TaskWriters, HearOfWhatFailed) {
  struct Failing final : Operator {
    void prepare() override {}
    void run() override { fail(Code::kNnInvalidParam, "index 7 is out of range"); }
  } op;
  const OperatorDef def{"failing", "test", {}, nullptr};
  op.def = &def;
  EXPECT_THROW(run_on(kDevice, op, {name_it, "lookup", "aclnnLookup"}), Error);
  EXPECT_EQ(writer.calls, (std::vector<std::string>{"aclnnLookup"}));
}

TEST_F(TaskWriters, AreToldTheShapeThatTheDataDecide) {
  std::vector<float> x{0, 3, 0, 5};
  std::vector<int64_t> at(4);
  Tensor client = make_tensor(at.data(), DType::kInt64, {4, 1});
  auto op = create(*find_operator("nonzero"));
  op->def->field("self")->of<Tensor>(*op) = make_tensor(x.data(), DType::kFloat, {4});
  Tensor& out = op->def->field("out")->of<Tensor>(*op);
  out = client;
  out.origin = &client;
  op->prepare();
  run_on(kDevice, *op, {name_it, "nonzero", "aclnnNonzero"});
  EXPECT_EQ(client.shape, (Dims{2, 1}));
  EXPECT_EQ(writer.told.shape, (Dims{2, 1}));
}

TEST_F(TaskWriters, HearOfWhatIsNoOperatorAsObserversDo) {
  Execution execution;
  execution.name.node = "node";
  Observation observation(execution);
  observation.finished(execution);
  EXPECT_EQ(writer.executions, (std::vector<std::string>{"node"}));
}

}  // namespace
}  // namespace npu::ops
