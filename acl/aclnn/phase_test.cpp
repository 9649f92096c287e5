// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/phase.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/error_state.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_neg.h"

namespace npu::acl {
namespace {

using Floats = TestTensor<float>;

struct AddCall {
  Floats a{{2, 2}, {1, 2, 3, 4}}, b{{2, 2}, {10, 20, 30, 40}}, out{{2, 2}};
  aclScalar* alpha = nullptr;
  uint64_t size = 7;
  aclOpExecutor* executor = nullptr;
  AddCall() {
    double one = 1;
    alpha = aclCreateScalar(&one, ACL_DOUBLE);
  }
  ~AddCall() { aclDestroyScalar(alpha); }
  int phase1() { return aclnnAddGetWorkspaceSize(a, b, alpha, out, &size, &executor); }
};

std::string text() { return recent_error(); }

TEST(Phase, AddRunsAndConsumesTheExecutor) {
  const size_t before = ExecutorPool::live_count();
  AddCall call;
  ASSERT_EQ(call.phase1(), 0) << text();
  EXPECT_EQ(call.size, 0u);
  EXPECT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 0) << text();
  EXPECT_EQ(call.out.values(), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(ExecutorPool::live_count(), before);
}

TEST(Phase, UsedExecutorIsRefused) {
  AddCall call;
  ASSERT_EQ(call.phase1(), 0);
  ASSERT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 0);
  EXPECT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 561103);
  EXPECT_NE(text().find("[aclnnAdd] the executor at"), std::string::npos);
  EXPECT_EQ(aclnnAdd(nullptr, 0, nullptr, nullptr), 561103);
  EXPECT_EQ(aclnnAdd(nullptr, 0, reinterpret_cast<aclOpExecutor*>(0x1234), nullptr), 561103);
  EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), 561103);
  EXPECT_EQ(aclDestroyAclOpExecutor(nullptr), 0);
}

TEST(Phase, ExecutorOfAnotherFunctionIsRefused) {
  AddCall call;
  ASSERT_EQ(call.phase1(), 0);
  EXPECT_EQ(aclnnNeg(nullptr, 0, call.executor, nullptr), 561103);
  EXPECT_NE(text().find("aclnnAddGetWorkspaceSize"), std::string::npos);
  EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), 0);
}

TEST(Phase, NullArgumentsNameThemselves) {
  AddCall call;
  EXPECT_EQ(aclnnAddGetWorkspaceSize(call.a, nullptr, call.alpha, call.out, &call.size, &call.executor), 161001);
  EXPECT_EQ(text().rfind("[aclnnAdd] other is null", 0), 0u);
  EXPECT_EQ(call.executor, nullptr);
  EXPECT_EQ(aclnnAddGetWorkspaceSize(call.a, call.b, call.alpha, nullptr, &call.size, &call.executor), 161001);
  EXPECT_EQ(aclnnAddGetWorkspaceSize(call.a, call.b, call.alpha, call.out, nullptr, &call.executor), 161001);
  EXPECT_EQ(aclnnAddGetWorkspaceSize(call.a, call.b, call.alpha, call.out, &call.size, nullptr), 161001);
  EXPECT_NE(text(), "");
  EXPECT_EQ(text(), "");
}

TEST(Phase, DestroyedAndForeignObjectsAreRefused) {
  AddCall call;
  aclTensor* gone = Floats({2, 2}).get();
  EXPECT_EQ(aclnnAddGetWorkspaceSize(call.a, gone, call.alpha, call.out, &call.size, &call.executor), 161002);
  EXPECT_NE(text().find("not alive"), std::string::npos);
  auto* foreign = reinterpret_cast<aclTensor*>(call.alpha);
  EXPECT_EQ(aclnnAddGetWorkspaceSize(foreign, call.b, call.alpha, call.out, &call.size, &call.executor), 161002);
}

TEST(Phase, TheAllocationBoundsAViewAndNotTheStorageItDeclares) {
  const Floats in({2}, {1, 2}), memory({6}, {0, 0, 0, 0, 0, 0});
  double one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_DOUBLE);
  const int64_t size = 2, stride = 1;
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  const auto view = [&](int64_t offset) {
    return aclCreateTensor(&size, 1, ACL_FLOAT, &stride, offset, ACL_FORMAT_ND, &size, 1, memory.address());
  };
  // The declared storage is the length of the view without its offset, as ggml and candle pass it.
  aclTensor* inside = view(4);
  EXPECT_EQ(aclnnAddGetWorkspaceSize(in, in, alpha, inside, &workspace, &executor), 0) << text();
  EXPECT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), 0) << text();
  EXPECT_EQ(memory.values(), (std::vector<float>{0, 0, 0, 0, 2, 4}));
  aclTensor* beyond = view(5);
  EXPECT_EQ(aclnnAddGetWorkspaceSize(in, in, alpha, beyond, &workspace, &executor), 161002);
  const std::string refusal = text();  // reading it clears it
  EXPECT_NE(refusal.find("out needs 8 bytes"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("its block of 24 bytes ends 4 bytes before that"), std::string::npos) << refusal;
  aclDestroyTensor(inside);
  aclDestroyTensor(beyond);
  aclDestroyScalar(alpha);
}

TEST(Phase, MemoryThatIsNotLiveIsRefused) {
  AddCall call;
  float host[4] = {};
  const int64_t shape[] = {2, 2};
  for (void* data : {static_cast<void*>(host), static_cast<void*>(call.out.address() + (size_t{1} << 30)),
                     static_cast<void*>(reinterpret_cast<float*>(16))}) {
    aclTensor* wild = aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2, data);
    EXPECT_EQ(aclnnAddGetWorkspaceSize(call.a, wild, call.alpha, call.out, &call.size, &call.executor), 161002);
    EXPECT_EQ(text().rfind("[aclnnAdd] other", 0), 0u);
    aclDestroyTensor(wild);
  }
}

TEST(Phase, ShapesThatDoNotFitAreRefused) {
  AddCall call;
  Floats wrong({3});
  EXPECT_EQ(aclnnAddGetWorkspaceSize(call.a, wrong, call.alpha, call.out, &call.size, &call.executor), 161002);
  EXPECT_EQ(text().rfind("[aclnnAdd] ", 0), 0u);
}

TEST(Phase, InplaceVariantWritesItsArgument) {
  AddCall call;
  ASSERT_EQ(aclnnInplaceAddGetWorkspaceSize(call.a, call.b, call.alpha, &call.size, &call.executor), 0) << text();
  ASSERT_EQ(aclnnInplaceAdd(nullptr, 0, call.executor, nullptr), 0);
  EXPECT_EQ(call.a.values(), (std::vector<float>{11, 22, 33, 44}));
}

TEST(Phase, SecondPhaseRunsFromAnotherThread) {
  AddCall call;
  ASSERT_EQ(call.phase1(), 0);
  std::thread([&] {
    device::set_device(0);
    EXPECT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 0) << text();
  }).join();
  EXPECT_EQ(call.out.values()[3], 44);
}

TEST(Phase, RepeatableExecutorTakesNewAddresses) {
  AddCall call;
  ASSERT_EQ(call.phase1(), 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
  ASSERT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 0) << text();
  ASSERT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 0) << text();
  Floats other({2, 2}, {5, 6, 7, 8}), target({2, 2});
  ASSERT_EQ(aclSetInputTensorAddr(call.executor, 1, call.b, other.address()), 0) << text();
  ASSERT_EQ(aclSetOutputTensorAddr(call.executor, 0, call.out, target.address()), 0);
  ASSERT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 0) << text();
  EXPECT_EQ(target.values(), (std::vector<float>{6, 8, 10, 12}));
  EXPECT_EQ(call.out.values(), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(aclSetInputTensorAddr(call.executor, 2, call.b, nullptr), 161002);
  EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), 0);
}

TEST(Phase, TensorWithoutAddressWaitsForOne) {
  AddCall call;
  const int64_t shape[] = {2, 2};
  aclTensor* later = aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2, nullptr);
  ASSERT_EQ(aclnnAddGetWorkspaceSize(later, call.b, call.alpha, call.out, &call.size, &call.executor), 0) << text();
  EXPECT_EQ(aclSetInputTensorAddr(call.executor, 0, later, nullptr), 161002);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(call.executor), 0);
  EXPECT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 161001);
  EXPECT_NE(text().find("self has no device address"), std::string::npos);
  ASSERT_EQ(aclSetTensorAddr(call.executor, 0, later, call.a.address()), 0) << text();
  EXPECT_EQ(aclnnAdd(nullptr, 0, call.executor, nullptr), 0) << text();
  EXPECT_EQ(call.out.values()[0], 11);
  aclDestroyAclOpExecutor(call.executor);
  aclDestroyTensor(later);
}

}  // namespace
}  // namespace npu::acl
