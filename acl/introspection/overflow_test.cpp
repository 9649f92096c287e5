// SPDX-License-Identifier: Apache-2.0
// Overflow as clients of the C interface meet it: aclnn functions on a device that saturates, and the operators that
// read and clear the word, for torch_npu's GradScaler on an Ascend910A.
#include "anynpu/overflow.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/error_state.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_foreach_exp.h"
#include "anynpu/graph.h"

namespace npu::acl {
namespace {

using Floats = TestTensor<float>;

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Reads (with `type` Get…) or clears the word as torch_npu does; gives what is then in the input and in the output.
std::pair<std::vector<float>, std::vector<float>> float_status(const char* type) {
  const Floats self({8}), out({8});
  const int64_t dims[] = {8};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
  aclDataBuffer *in = aclCreateDataBuffer(self.address(), 32), *result = aclCreateDataBuffer(out.address(), 32);
  EXPECT_OK(aclopCompileAndExecute(type, 1, &desc, &in, 1, &desc, &result, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS,
                                   nullptr, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  aclDestroyTensorDesc(desc);
  EXPECT_OK(aclDestroyDataBuffer(in));
  EXPECT_OK(aclDestroyDataBuffer(result));
  return {self.values(), out.values()};
}

class OverflowDoor : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    ASSERT_OK(anynpu_set_overflow_mode(0));
    float_status("NPUClearFloatStatus");
  }
  void TearDown() override { EXPECT_OK(anynpu_set_overflow_mode(1)); }

  static std::vector<float> exp_of(std::vector<float> numbers) {
    const Floats x({static_cast<int64_t>(numbers.size())}, numbers), out({static_cast<int64_t>(numbers.size())});
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnExpGetWorkspaceSize(x, out, &size, &executor), 0) << recent_error();
    EXPECT_EQ(aclnnExp(nullptr, size, executor, nullptr), 0);
    return out.values();
  }
  static std::vector<std::string> told() {
    std::vector<std::string> out;
    EXPECT_OK(anynpu_each_overflow(
        0,
        [](const anynpu_overflow* o, void* all) { static_cast<std::vector<std::string>*>(all)->emplace_back(o->text); },
        &out));
    return out;
  }
};

TEST_F(OverflowDoor, FunctionsSaturateAndTheWordTells) {
  EXPECT_EQ(float_status("NPUGetFloatStatus").second, std::vector<float>(8, 0));
  EXPECT_EQ(exp_of({0, 100}), (std::vector<float>{1, kLargest}));
  const std::vector<float> set{1, 0, 0, 0, 0, 0, 0, 0};
  const auto [self, out] = float_status("NPUGetFloatStatus");
  EXPECT_EQ(self, set) << "torch_npu looks at what it passed in";
  EXPECT_EQ(out, set);
  EXPECT_NE(told().back().find("aclnnExp node 'aclnnExp' overflowed"), std::string::npos) << told().back();
  float_status("NPUClearFloatStatus");
  EXPECT_EQ(float_status("NPUGetFloatStatus").second, std::vector<float>(8, 0));
  EXPECT_OK(anynpu_set_overflow_mode(1));
  EXPECT_EQ(exp_of({100}), std::vector<float>{kInf});
  EXPECT_EQ(float_status("NPUGetFloatStatus").second, std::vector<float>(8, 0));
}

TEST_F(OverflowDoor, EachMemberOfAListSaturates) {
  Floats a({1}, {1}), b({2}, {200, 0}), out_a({1}), out_b({2});
  const aclTensor *in[] = {a.get(), b.get()}, *out[] = {out_a.get(), out_b.get()};
  const aclTensorList *inputs = aclCreateTensorList(in, 2), *outputs = aclCreateTensorList(out, 2);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnForeachExpGetWorkspaceSize(inputs, outputs, &size, &executor), 0) << recent_error();
  ASSERT_EQ(aclnnForeachExp(nullptr, size, executor, nullptr), 0);
  EXPECT_EQ(out_b.values(), (std::vector<float>{kLargest, 1}));
  EXPECT_EQ(float_status("NPUGetFloatStatus").second[0], 1);
  a.release(), b.release(), out_a.release(), out_b.release();
  aclDestroyTensorList(inputs);
  aclDestroyTensorList(outputs);
}

TEST_F(OverflowDoor, AWatcherHearsOfTheFirst) {
  int heard = 0;
  anynpu_watch_overflows(
      [](const anynpu_overflow* o, void* count) {
        ++*static_cast<int*>(count);
        EXPECT_EQ(o->struct_size, sizeof *o);
        EXPECT_EQ(o->dtype, ACL_FLOAT);
        EXPECT_EQ((std::vector<int64_t>{o->sizes, o->sizes + o->rank}), std::vector<int64_t>{2});
        EXPECT_EQ((std::vector<int64_t>{o->infinities, o->nans, o->saturated}), (std::vector<int64_t>{1, 0, 1}));
        EXPECT_EQ(o->most, 1);
      },
      &heard);
  exp_of({0, 100});
  exp_of({0, 100});
  anynpu_watch_overflows(nullptr, nullptr);
  float_status("NPUClearFloatStatus");
  exp_of({0, 100});
  EXPECT_EQ(heard, 1);
}

TEST_F(OverflowDoor, WhatTheClientComputedIsReplaced) {
  float in_data[] = {1}, out_data[] = {kInf, 2};
  const int64_t one = 1, two = 2;
  anynpu_value *in = nullptr, *out = nullptr;
  ASSERT_OK(anynpu_value_tensor(ACL_FLOAT, 1, &one, in_data, nullptr, nullptr, &in));
  ASSERT_OK(anynpu_value_tensor(ACL_FLOAT, 1, &two, out_data, nullptr, nullptr, &out));
  ASSERT_OK(anynpu_saturate(0, "MatrixExponential", &in, 1, &out, 1));
  anynpu_value_view view{};
  view.struct_size = sizeof view;
  ASSERT_OK(anynpu_value_inspect(out, &view));
  EXPECT_EQ(static_cast<const float*>(view.data)[0], kLargest);
  EXPECT_EQ(out_data[0], kInf) << "the client's memory is its own";
  EXPECT_NE(told().back().find("MatrixExponential node"), std::string::npos);
  anynpu_value_release(in);
  anynpu_value_release(out);
}

TEST_F(OverflowDoor, WithoutDetectionTheWordStays) {
  const size_t before = told().size();
  int32_t on = -1;
  EXPECT_OK(anynpu_detect_overflows(0, 0));
  EXPECT_OK(anynpu_overflow_detection(0, &on));
  EXPECT_EQ(on, 0);
  EXPECT_EQ(exp_of({100}), std::vector<float>{kLargest}) << "results saturate all the same";
  EXPECT_EQ(float_status("NPUGetFloatStatus").second, std::vector<float>(8, 0));
  EXPECT_EQ(told().size(), before);
  EXPECT_OK(anynpu_detect_overflows(0, 1));
  EXPECT_OK(anynpu_overflow_detection(0, &on));
  EXPECT_EQ(on, 1);
  exp_of({100});
  EXPECT_EQ(float_status("NPUGetFloatStatus").second[0], 1);
}

TEST_F(OverflowDoor, WrongCalls) {
  int32_t mode = -1;
  EXPECT_OK(anynpu_overflow_mode(0, &mode));
  EXPECT_EQ(mode, 0);
  EXPECT_EQ(anynpu_set_overflow_mode(2), 107000);
  EXPECT_EQ(anynpu_overflow_mode(99, &mode), 107001);
  EXPECT_EQ(anynpu_overflow_mode(0, nullptr), 100000);
  EXPECT_EQ(anynpu_detect_overflows(99, 1), 107001);
  EXPECT_EQ(anynpu_overflow_detection(99, &mode), 107001);
  EXPECT_EQ(anynpu_overflow_detection(0, nullptr), 100000);
  EXPECT_EQ(anynpu_each_overflow(0, nullptr, nullptr), 100000);
  EXPECT_EQ(anynpu_saturate(99, "x", nullptr, 0, nullptr, 0), 107001);
  EXPECT_EQ(anynpu_saturate(0, nullptr, nullptr, 0, nullptr, 0), 100000);
}

}  // namespace
}  // namespace npu::acl
