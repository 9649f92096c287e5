// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/task_recorder.h"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/profiling/task_label.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_foreach_neg.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_nonzero.h"
#include "device/trace/recorder.h"
#include "device/trace/text.h"

namespace npu::acl {
namespace {

namespace trace = device::trace;
using Floats = TestTensor<float>;

class Heard final : public trace::Listener {
 public:
  void heard(const trace::TaskRecord& record) override {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(record);
  }
  void heard(const trace::CallRecord&) override {}
  void heard(const trace::MarkRecord&) override {}
  void heard(const trace::MemoryRecord&) override {}
  void begun(const trace::MarkRecord&) override {}
  void entered(uint32_t, const trace::Owners&) override {}

  std::vector<trace::TaskRecord> taken() {
    device::synchronize_device();
    const std::lock_guard lock(mutex_);
    return std::exchange(tasks_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<trace::TaskRecord> tasks_;
};

class RecordedTasks : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    trace::listen(&heard);
  }
  void TearDown() override { trace::listen(nullptr); }

  template <class Prepare, class Run>
  static void run(Prepare&& prepare, Run&& execute) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(prepare(&size, &executor), 0) << aclGetRecentErrMsg();
    ASSERT_EQ(execute(nullptr, size, executor, nullptr), 0) << aclGetRecentErrMsg();
  }
  static void multiply(std::vector<int64_t> a, std::vector<int64_t> b, std::vector<int64_t> c) {
    const Floats self(std::move(a)), other(std::move(b)), out(std::move(c));
    run([&](auto... at) { return aclnnMatmulGetWorkspaceSize(self, other, out, 1, at...); }, aclnnMatmul);
    device::synchronize_device();
  }
  static void find(std::vector<float> values) {
    const auto count = static_cast<int64_t>(values.size());
    const Floats self({count}, std::move(values));
    const TestTensor<int64_t> out({count, 1});
    run([&](auto... at) { return aclnnNonzeroGetWorkspaceSize(self, out, at...); }, aclnnNonzero);
    device::synchronize_device();
  }
  /// The only task since it was asked last.
  trace::TaskRecord one() {
    const std::vector<trace::TaskRecord> all = heard.taken();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? trace::TaskRecord() : all.back();
  }

  static inline Heard heard;  // may hear of what is just being written
};

TEST_F(RecordedTasks, SayWhatRanAndWhatItReadAndWrote) {
  const TaskLease lease(true);
  // The type depends on the rank: what was spelt for one call is not taken for the next.
  for (int turn = 0; turn < 2; ++turn) {
    multiply({2, 3}, {3, 4}, {2, 4});
    const trace::TaskRecord flat = one();
    EXPECT_STREQ(trace::text_of(flat.type), "MatMulV2");
    EXPECT_STREQ(trace::text_of(flat.name), "aclnnMatmul_MatMulV2");
    EXPECT_STREQ(trace::text_of(flat.inputs), "2,3;3,4|FLOAT;FLOAT|ND;ND");
    EXPECT_STREQ(trace::text_of(flat.outputs), "2,4|FLOAT|ND");
    EXPECT_EQ(flat.bytes, (6 + 12 + 8) * sizeof(float));
    EXPECT_EQ(flat.unit, trace::Unit::kCube);
    EXPECT_LT(flat.start, flat.end);
    EXPECT_LE(flat.launched, flat.start);
    EXPECT_NE(flat.launched, 0);
    multiply({5, 2, 3}, {5, 3, 4}, {5, 2, 4});
    const trace::TaskRecord batch = one();
    EXPECT_STREQ(trace::text_of(batch.type), "BatchMatMulV2");
    EXPECT_STREQ(trace::text_of(batch.name), "aclnnMatmul_BatchMatMulV2");
    EXPECT_STREQ(trace::text_of(batch.inputs), "5,2,3;5,3,4|FLOAT;FLOAT|ND;ND");
    EXPECT_EQ(batch.number, flat.number + 1);
    multiply({2, 6}, {6, 4}, {2, 4});
    EXPECT_STREQ(trace::text_of(one().inputs), "2,6;6,4|FLOAT;FLOAT|ND;ND");
  }
}

TEST_F(RecordedTasks, SayTheShapeThatTheDataDecide) {
  const TaskLease lease(true);
  find({0, 3, 0, 5});
  EXPECT_STREQ(trace::text_of(one().outputs), "2,1|INT64|ND");
  find({1, 3, 0, 5});
  const trace::TaskRecord more = one();
  EXPECT_STREQ(trace::text_of(more.outputs), "3,1|INT64|ND");
  EXPECT_EQ(more.bytes, 4 * sizeof(float) + 3 * sizeof(int64_t));
}

TEST_F(RecordedTasks, SayShapesWhereSomebodyWantsThem) {
  {
    const TaskLease lease(false);
    multiply({2, 3}, {3, 4}, {2, 4});
    const trace::TaskRecord plain = one();
    EXPECT_STREQ(trace::text_of(plain.type), "MatMulV2");
    EXPECT_EQ(plain.inputs, 0u);
    EXPECT_EQ(plain.bytes, (6 + 12 + 8) * sizeof(float));
    multiply({5, 2, 3}, {5, 3, 4}, {5, 2, 4});
    EXPECT_STREQ(trace::text_of(one().type), "BatchMatMulV2");
    const TaskLease other(true);
    multiply({2, 3}, {3, 4}, {2, 4});
    EXPECT_NE(one().inputs, 0u);
  }
  multiply({2, 3}, {3, 4}, {2, 4});
  EXPECT_EQ(one().unit, trace::Unit::kNone) << "nobody asks for operators: it is a task";
}

TEST_F(RecordedTasks, AreSpeltAlikeByEachThread) {
  const TaskLease lease(true);
  multiply({2, 3}, {3, 4}, {2, 4});
  const trace::TaskRecord here = one();
  std::thread([] {
    ASSERT_OK(aclrtSetDevice(0));
    multiply({2, 3}, {3, 4}, {2, 4});
  }).join();
  const trace::TaskRecord there = one();
  EXPECT_EQ(here.name, there.name);
  EXPECT_EQ(here.inputs, there.inputs);
  EXPECT_NE(here.launcher, there.launcher);
}

TEST_F(RecordedTasks, OfListsHaveTheTensorsOfAllMembers) {
  const TaskLease lease(true);
  // More than a key has room for in place.
  constexpr int kMembers = 100;
  std::vector<std::unique_ptr<Floats>> all;
  std::vector<const aclTensor*> from, to;
  for (int i = 0; i < kMembers; ++i) {
    from.push_back(all.emplace_back(std::make_unique<Floats>(std::vector<int64_t>{1, i + 1}))->release());
    to.push_back(all.emplace_back(std::make_unique<Floats>(std::vector<int64_t>{1, i + 1}))->release());
  }
  aclTensorList* const x = aclCreateTensorList(from.data(), from.size());
  aclTensorList* const out = aclCreateTensorList(to.data(), to.size());
  run([&](auto... at) { return aclnnForeachNegGetWorkspaceSize(x, out, at...); }, aclnnForeachNeg);
  const trace::TaskRecord task = one();
  std::string shapes;
  for (int i = 1; i <= kMembers; ++i) shapes += (i == 1 ? "1," : ";1,") + std::to_string(i);
  const std::string text = trace::text_of(task.inputs);
  EXPECT_EQ(text.substr(0, text.find('|')), shapes);
  EXPECT_EQ(task.inputs, task.outputs);
  EXPECT_EQ(task.bytes, 2 * sizeof(float) * kMembers * (kMembers + 1) / 2);
  EXPECT_OK(aclDestroyTensorList(x));
  EXPECT_OK(aclDestroyTensorList(out));
}

TEST(Labels, NodesOfGraphsAreNamedAsTheVendorsTables) {
  EXPECT_EQ(type_of("_FusedProduct", nullptr, 0), "MatMulV2");
  EXPECT_EQ(type_of("_FusedChain", nullptr, 0), "FusedChain");
  EXPECT_EQ(unit_of("HcomAllReduce", nullptr), trace::Unit::kCollective);
  EXPECT_EQ(unit_of("Conv2DBackpropInput", nullptr), trace::Unit::kCube);
  EXPECT_EQ(unit_of("DynamicRNN", nullptr), trace::Unit::kMixed);
  EXPECT_EQ(unit_of("Relu", nullptr), trace::Unit::kVector);
}

}  // namespace
}  // namespace npu::acl
