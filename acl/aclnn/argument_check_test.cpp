// SPDX-License-Identifier: Apache-2.0
// What a device refuses, phase 1 refuses: each check once here; tests/conformance asks every function for every type.
#include "acl/aclnn/argument_check.h"

#include <gtest/gtest.h>

#include <string>

#include "acl/aclnn/phase.h"
#include "acl/aclnn/tensor_fixture.h"
#include "acl/error_state.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_softmax.h"
#include "device/context/context.h"
#include "device/process/soc_fixture.h"
#include "device/queue/stream_table.h"

namespace npu::acl {
namespace {

using Floats = TestTensor<float>;
using Integers = TestTensor<int32_t>;

std::string text() { return recent_error(); }

/// Where phase 1 stores its results; an executor that was made after all ends with the test.
struct Made {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ~Made() { aclDestroyAclOpExecutor(executor); }
};

TEST(ArgumentCheck, AnotherElementTypeIsRefused) {
  Integers self({2, 3});
  Floats out({2, 3});
  Made made;
  EXPECT_EQ(aclnnSoftmaxGetWorkspaceSize(self, 1, out, &made.size, &made.executor), 161002);
  EXPECT_EQ(text(),
            "[aclnnSoftmax] self is int32[2x3]; it may be float32, float16, float64 or bfloat16: cast it first");
  Floats good({2, 3});
  Integers wrong({2, 3});
  EXPECT_EQ(aclnnSoftmaxGetWorkspaceSize(good, 1, wrong, &made.size, &made.executor), 161002);
  EXPECT_EQ(text().rfind("[aclnnSoftmax] out is int32[2x3]", 0), 0u);
  EXPECT_EQ(made.executor, nullptr);
}

TEST(ArgumentCheck, ATypeThatTheSocLacksIsRefused) {
  const TestTensor<BFloat16> self({2, 3}), out({2, 3});
  const Floats wide({2, 3});
  const device::OnSoc soc("Ascend910A");
  Made made;
  EXPECT_EQ(aclnnSoftmaxGetWorkspaceSize(self, 1, out, &made.size, &made.executor), 161002);
  EXPECT_EQ(text(),
            "[aclnnSoftmax] self is bfloat16[2x3]: aclnnSoftmax takes no bfloat16 on Ascend910A, which does not have "
            "this type; cast to float16 or float32, or choose another SoC by ANYNPU_SOC");
  EXPECT_EQ(aclnnCastGetWorkspaceSize(wide, ACL_BF16, out, &made.size, &made.executor), 161002);
  EXPECT_EQ(text().rfind("[aclnnCast] out is bfloat16[2x3]: aclnnCast takes no bfloat16 on Ascend910A", 0), 0u);
  EXPECT_EQ(made.executor, nullptr);
  EXPECT_EQ(aclnnSoftmaxGetWorkspaceSize(wide, 1, wide, &made.size, &made.executor), 0) << text();
}

TEST(ArgumentCheck, DtypeMustBeTheOutputs) {
  Floats self({2});
  Integers out({2});
  Made made;
  EXPECT_EQ(aclnnCastGetWorkspaceSize(self, ACL_FLOAT16, out, &made.size, &made.executor), 161002);
  EXPECT_EQ(text(), "[aclnnCast] dtype is float16, out is int32[2]: pass the element type of out");
  EXPECT_EQ(aclnnCastGetWorkspaceSize(self, ACL_INT32, out, &made.size, &made.executor), 0) << text();
}

TEST(ArgumentCheck, AFloatSumHasNoIntegerOutput) {
  Floats self({2, 3});
  Integers out({3});
  const int64_t axis = 0;
  aclIntArray* dims = aclCreateIntArray(&axis, 1);
  Made made;
  EXPECT_EQ(aclnnReduceSumGetWorkspaceSize(self, dims, false, ACL_FLOAT, out, &made.size, &made.executor), 161002);
  EXPECT_EQ(text(), "[aclnnReduceSum] dtype is float32, out is int32[3]: pass the element type of out");
  aclDestroyIntArray(dims);
}

TEST(ArgumentCheck, CubeMathTypeHasARange) {
  Floats a({2, 2}), b({2, 2}), out({2, 2});
  for (const int wrong : {-2, 5, 100}) {
    Made made;
    EXPECT_EQ(aclnnMmGetWorkspaceSize(a, b, out, static_cast<int8_t>(wrong), &made.size, &made.executor), 161002);
    EXPECT_EQ(text(), "[aclnnMm] cube_math_type is " + std::to_string(wrong) + "; it may be -1 to 4");
  }
  for (const int good : {-1, 0, 4}) {
    Made made;
    EXPECT_EQ(aclnnMmGetWorkspaceSize(a, b, out, static_cast<int8_t>(good), &made.size, &made.executor), 0) << text();
  }
}

TEST(ArgumentCheck, ANumberMayNotBeNull) {
  Floats a({2}), b({2}), out({2});
  Made made;
  EXPECT_EQ(aclnnAddGetWorkspaceSize(a, b, nullptr, out, &made.size, &made.executor), 161001);
  EXPECT_EQ(text().rfind("[aclnnAdd] alpha is null: add reads it", 0), 0u) << text();
  EXPECT_EQ(aclnnInplaceAddGetWorkspaceSize(a, b, nullptr, &made.size, &made.executor), 161001);
}

TEST(ArgumentCheck, ABlockedFormatIsRefused) {
  Floats memory({2, 2}), out({2, 2});
  const int64_t shape[] = {2, 2}, storage = 4;
  for (const aclFormat format : {ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NC1HWC0, ACL_FORMAT_FRACTAL_Z, ACL_FORMAT_NDC1HWC0,
                                 ACL_FRACTAL_Z_3D, static_cast<aclFormat>(51)}) {
    aclTensor* blocked = aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, format, &storage, 1, memory.address());
    Made made;
    EXPECT_EQ(aclnnMmGetWorkspaceSize(blocked, memory, out, 0, &made.size, &made.executor), 161002) << format;
    EXPECT_EQ(text().rfind("[aclnnMm] self has format " + std::to_string(format), 0), 0u);
    aclDestroyTensor(blocked);
  }
  for (const aclFormat format : {ACL_FORMAT_UNDEFINED, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_ND, ACL_FORMAT_HWCN,
                                 ACL_FORMAT_NDHWC, ACL_FORMAT_NCDHW, ACL_FORMAT_NC, ACL_FORMAT_NCL}) {
    aclTensor* plain = aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, format, &storage, 1, memory.address());
    Made made;
    EXPECT_EQ(aclnnMmGetWorkspaceSize(memory, plain, out, 0, &made.size, &made.executor), 0) << format << text();
    aclDestroyTensor(plain);
  }
}

/// Four numbers on device 1, described as 2x2.
class OnTheOther {
 public:
  OnTheOther() {
    device::set_device(1);
    memory_ = device::allocate(1, 16);
    const int64_t shape[] = {2, 2}, storage = 4;
    object_ = aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &storage, 1, memory_);
    device::set_device(0);
  }
  OnTheOther(const OnTheOther&) = delete;
  OnTheOther& operator=(const OnTheOther&) = delete;
  ~OnTheOther() {
    aclDestroyTensor(object_);
    device::deallocate(memory_);
  }
  aclTensor* get() const { return object_; }
  void* address() const { return memory_; }

 private:
  void* memory_;
  aclTensor* object_;
};

TEST(ArgumentCheck, OneCallHasOneDevice) {
  Floats a({2, 2}), out({2, 2});
  const OnTheOther b;
  Made made;
  EXPECT_EQ(aclnnMmGetWorkspaceSize(a, b.get(), out, 0, &made.size, &made.executor), 161002);
  EXPECT_EQ(text(), "[aclnnMm] self is memory of device 0, mat2 of device 1; copy one of them over first");
}

TEST(ArgumentCheck, TheStreamIsOfTheTensorsDevice) {
  Floats a({2, 2}, {1, 2, 3, 4}), b({2, 2}, {1, 0, 0, 1}), out({2, 2});
  device::set_device(1);
  void* other = device::create_stream();
  device::set_device(0);
  Made made;
  ASSERT_EQ(aclnnMmGetWorkspaceSize(a, b, out, 0, &made.size, &made.executor), 0) << text();
  EXPECT_EQ(aclnnMm(nullptr, 0, made.executor, other), 161002);
  EXPECT_EQ(text(), "[aclnnMm] out is memory of device 0, the stream belongs to device 1; use a stream of device 0");
  // Refused, the executor is not consumed: it may run where it belongs.
  EXPECT_EQ(aclnnMm(nullptr, 0, made.executor, nullptr), 0) << text();
  made.executor = nullptr;
  EXPECT_EQ(out.values(), (std::vector<float>{1, 2, 3, 4}));
  device::destroy_stream(other);
}

TEST(ArgumentCheck, AnAddressOfAnotherDeviceIsRefused) {
  Floats a({2, 2}), b({2, 2}), out({2, 2});
  const OnTheOther other;
  Made made;
  ASSERT_EQ(aclnnMmGetWorkspaceSize(a, b, out, 0, &made.size, &made.executor), 0) << text();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(made.executor), 0);
  EXPECT_EQ(aclSetInputTensorAddr(made.executor, 0, a, other.address()), 161002);
  EXPECT_NE(text().find("self would be memory of device 1, the executor was made for device 0"), std::string::npos);
}

}  // namespace
}  // namespace npu::acl
