// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/callback.h"

#include <string>
#include <vector>

#include "acl/runtime/runtime_fixture.h"

namespace npu::acl {
namespace {

struct Told {
  msptiCallbackDomain domain;
  msptiCallbackId id;
  msptiApiCallbackSite site;
  std::string name;
  uint64_t number, shared;
};

/// Writes down what it is told, hands a number from the beginning of a call to its end, and calls us itself.
void tell(void* userdata, msptiCallbackDomain domain, msptiCallbackId id, const msptiCallbackData* data) {
  if (data->callbackSite == MSPTI_API_ENTER) *data->correlationData = 100 + data->correlationId;
  aclrtSynchronizeDevice();
  static_cast<std::vector<Told>*>(userdata)->push_back(
      {domain, id, data->callbackSite, data->functionName, data->correlationId, *data->correlationData});
}

class MsptiCallback : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    ASSERT_EQ(msptiSubscribe(&subscriber, tell, &told), MSPTI_SUCCESS);
  }
  void TearDown() override {
    if (subscriber == nullptr) return;
    EXPECT_EQ(msptiUnsubscribe(subscriber), MSPTI_SUCCESS);
  }
  msptiSubscriberHandle subscriber = nullptr;
  std::vector<Told> told;
};

TEST_F(MsptiCallback, EachFunctionOfADomainIsToldTwice) {
  ASSERT_OK(aclrtSynchronizeDevice());
  EXPECT_TRUE(told.empty());
  ASSERT_EQ(msptiEnableDomain(1, subscriber, MSPTI_CB_DOMAIN_RUNTIME), MSPTI_SUCCESS);
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtSynchronizeDevice());
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told[0].name, "aclrtSetDevice");
  EXPECT_EQ(told[0].id, static_cast<msptiCallbackId>(MSPTI_CBID_RUNTIME_DEVICE_SET));
  EXPECT_EQ(told[0].domain, MSPTI_CB_DOMAIN_RUNTIME);
  EXPECT_EQ(told[0].site, MSPTI_API_ENTER);
  EXPECT_EQ(told[1].site, MSPTI_API_EXIT);
  EXPECT_EQ(told[1].number, told[0].number);
  EXPECT_EQ(told[1].shared, 100 + told[0].number);
  EXPECT_EQ(told[2].name, "aclrtSynchronizeDevice");
  EXPECT_EQ(told[2].id, 0u);
  EXPECT_NE(told[2].number, told[0].number);
  ASSERT_EQ(msptiEnableDomain(0, subscriber, MSPTI_CB_DOMAIN_RUNTIME), MSPTI_SUCCESS);
  ASSERT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(told.size(), 4u);
}

TEST_F(MsptiCallback, OneFunctionByItsNumber) {
  ASSERT_EQ(msptiEnableCallback(1, subscriber, MSPTI_CB_DOMAIN_RUNTIME, MSPTI_CBID_RUNTIME_DEVICE_SET), MSPTI_SUCCESS);
  ASSERT_OK(aclrtSynchronizeDevice());
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].name, "aclrtSetDevice");
}

TEST_F(MsptiCallback, NobodyIsCalledAfterTheEnd) {
  ASSERT_EQ(msptiEnableDomain(1, subscriber, MSPTI_CB_DOMAIN_RUNTIME), MSPTI_SUCCESS);
  ASSERT_EQ(msptiUnsubscribe(subscriber), MSPTI_SUCCESS);
  subscriber = nullptr;
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_TRUE(told.empty());
}

TEST_F(MsptiCallback, WrongArgumentsAreRefused) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(msptiEnableCallback(1, subscriber, MSPTI_CB_DOMAIN_RUNTIME, 40), MSPTI_ERROR_INVALID_PARAMETER);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(msptiEnableCallback(1, nullptr, MSPTI_CB_DOMAIN_RUNTIME, 1), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiEnableDomain(1, subscriber, MSPTI_CB_DOMAIN_INVALID), MSPTI_ERROR_INVALID_PARAMETER);
  ASSERT_EQ(msptiUnsubscribe(subscriber), MSPTI_SUCCESS);
  ASSERT_EQ(msptiSubscribe(&subscriber, nullptr, nullptr), MSPTI_SUCCESS);
  EXPECT_EQ(msptiEnableDomain(1, subscriber, MSPTI_CB_DOMAIN_RUNTIME), MSPTI_ERROR_INVALID_PARAMETER);
}

}  // namespace
}  // namespace npu::acl
