// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/object.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "acl/error_state.h"

namespace npu::acl {
namespace {

const int64_t kShape[] = {2, 3};

aclTensor* make(const int64_t* shape, uint64_t rank, const int64_t* stride = nullptr, int64_t offset = 0,
                aclDataType dtype = ACL_FLOAT) {
  return aclCreateTensor(shape, rank, dtype, stride, offset, ACL_FORMAT_ND, nullptr, 0, nullptr);
}

TEST(Object, TensorKeepsWhatItWasGiven) {
  const int64_t stride[] = {1, 2}, storage[] = {40};
  aclTensor* t = aclCreateTensor(kShape, 2, ACL_INT32, stride, 5, ACL_FORMAT_ND, storage, 1, nullptr);
  ASSERT_NE(t, nullptr) << recent_error();
  EXPECT_EQ(t->tensor.dtype, DType::kInt32);
  EXPECT_EQ(t->tensor.strides, (Dims{1, 2}));
  EXPECT_EQ(t->tensor.offset, 5);
  EXPECT_EQ(t->tensor.storage_elements, 40);
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  ASSERT_EQ(aclGetViewShape(t, &dims, &rank), 0);
  EXPECT_EQ(std::vector<int64_t>(dims, dims + rank), (std::vector<int64_t>{2, 3}));
  delete[] dims;
  EXPECT_EQ(aclDestroyTensor(t), 0);
  EXPECT_EQ(aclDestroyTensor(t), 161002);
  EXPECT_EQ(aclGetViewShape(t, &dims, &rank), 161002);
  EXPECT_EQ(aclGetViewShape(nullptr, &dims, &rank), 161001);
}

std::vector<int64_t> numbers(aclnnStatus (*get)(const aclTensor*, int64_t**, uint64_t*), const aclTensor* tensor) {
  int64_t* values = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(get(tensor, &values, &count), 0) << recent_error();
  std::vector<int64_t> out(values, values + count);
  delete[] values;
  return out;
}

/// Everything that can be asked about a tensor, as one text.
std::string described(const aclTensor* t) {
  int64_t offset = -1;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* address = nullptr;
  EXPECT_EQ(aclGetViewOffset(t, &offset), 0);
  EXPECT_EQ(aclGetFormat(t, &format), 0);
  EXPECT_EQ(aclGetDataType(t, &dtype), 0);
  EXPECT_EQ(aclGetRawTensorAddr(t, &address), 0);
  return fmt::format("view {} strides {} storage {} offset {} format {} type {} at {}",
                     fmt::join(numbers(aclGetViewShape, t), ","), fmt::join(numbers(aclGetViewStrides, t), ","),
                     fmt::join(numbers(aclGetStorageShape, t), ","), offset, static_cast<int>(format),
                     static_cast<int>(dtype), address);
}

TEST(Object, TensorsTellWhatTheyWereGivenAndAreDescribedAnew) {
  const int64_t stride[] = {1, 2}, storage[] = {4, 10}, other[] = {3};
  void* const first = reinterpret_cast<void*>(0x1000);
  void* const second = reinterpret_cast<void*>(0x2000);
  aclTensor* t = aclCreateTensor(kShape, 2, ACL_INT32, stride, 5, ACL_FORMAT_NCHW, storage, 2, first);
  ASSERT_NE(t, nullptr) << recent_error();
  EXPECT_EQ(described(t), "view 2,3 strides 1,2 storage 4,10 offset 5 format 0 type 3 at 0x1000");
  EXPECT_EQ(aclSetRawTensorAddr(t, second), 0);
  EXPECT_EQ(described(t), "view 2,3 strides 1,2 storage 4,10 offset 5 format 0 type 3 at 0x2000");
  EXPECT_EQ(aclInitTensor(t, other, 1, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, first), 0);
  EXPECT_EQ(described(t), "view 3 strides 1 storage 3 offset 0 format 2 type 1 at 0x1000");
  const int64_t negative[] = {-1};
  EXPECT_EQ(aclInitTensor(t, negative, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr), 161002);
  EXPECT_EQ(described(t), "view 3 strides 1 storage 3 offset 0 format 2 type 1 at 0x1000");
  aclDestroyTensor(t);
  int64_t offset = 0;
  EXPECT_EQ(aclGetViewOffset(t, &offset), 161002);
  EXPECT_EQ(aclSetRawTensorAddr(t, first), 161002);
  EXPECT_EQ(aclInitTensor(t, other, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, first), 161002);
  EXPECT_EQ(aclGetViewOffset(nullptr, &offset), 161001);
  EXPECT_EQ(aclInitTensor(nullptr, other, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, first), 161001);
  EXPECT_STREQ(recent_error(), "[aclInitTensor] tensor is null; it must be given");
}

TEST(Object, ListsAndArraysTellTheirSize) {
  const int64_t ints[] = {1, 2, 3};
  const float floats[] = {1, 2};
  const bool bools[] = {true};
  uint64_t size = 99;
  const auto expect = [&](aclnnStatus status, uint64_t wanted) {
    EXPECT_EQ(status, 0) << recent_error();
    EXPECT_EQ(size, wanted);
  };
  aclIntArray* i = aclCreateIntArray(ints, 3);
  aclFloatArray* f = aclCreateFloatArray(floats, 2);
  aclBoolArray* b = aclCreateBoolArray(bools, 1);
  const aclTensor* members[] = {make(kShape, 2), nullptr};
  aclTensorList* tensors = aclCreateTensorList(members, 2);
  aclScalarList* scalars = aclCreateScalarList(nullptr, 0);
  expect(aclGetIntArraySize(i, &size), 3);
  expect(aclGetFloatArraySize(f, &size), 2);
  expect(aclGetBoolArraySize(b, &size), 1);
  expect(aclGetTensorListSize(tensors, &size), 2);
  expect(aclGetScalarListSize(scalars, &size), 0);
  EXPECT_EQ(aclGetIntArraySize(i, nullptr), 161001);
  EXPECT_EQ(aclDestroyIntArray(i), 0);
  EXPECT_EQ(aclGetIntArraySize(i, &size), 161002);
  aclDestroyFloatArray(f);
  aclDestroyBoolArray(b);
  aclDestroyTensorList(tensors);
  aclDestroyScalarList(scalars);
}

TEST(Object, ScalarAndEmptyTensors) {
  aclTensor* scalar = make(nullptr, 0);
  ASSERT_NE(scalar, nullptr);
  EXPECT_EQ(scalar->tensor.count(), 1);
  const int64_t empty[] = {0, 3};
  aclTensor* none = make(empty, 2);
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(none->tensor.count(), 0);
  aclDestroyTensor(scalar);
  aclDestroyTensor(none);
}

TEST(Object, BadTensorsAreRefusedWithAText) {
  const int64_t negative[] = {2, -3}, huge[] = {int64_t{1} << 60, int64_t{1} << 60};
  const int64_t many[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const auto refused = [](aclTensor* t) { return t == nullptr && *recent_error() != '\0'; };
  EXPECT_TRUE(refused(make(negative, 2)));
  EXPECT_TRUE(refused(make(huge, 2)));
  EXPECT_TRUE(refused(make(many, 17)));
  EXPECT_TRUE(refused(make(nullptr, 2)));
  EXPECT_TRUE(refused(make(kShape, 2, negative)));
  EXPECT_TRUE(refused(make(kShape, 2, huge)));
  EXPECT_TRUE(refused(make(kShape, 2, nullptr, -1)));
  EXPECT_TRUE(refused(make(kShape, 2, nullptr, 0, static_cast<aclDataType>(25))));
  EXPECT_TRUE(refused(make(kShape, 2, nullptr, 0, ACL_DT_UNDEFINED)));
  EXPECT_EQ(aclCreateIntArray(nullptr, 2), nullptr);
  EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
  EXPECT_EQ(aclCreateTensorList(nullptr, 1), nullptr);
}

TEST(Object, DestroyingNullDoesNothing) {
  EXPECT_EQ(aclDestroyTensor(nullptr), 0);
  EXPECT_EQ(aclDestroyScalar(nullptr), 0);
  EXPECT_EQ(aclDestroyIntArray(nullptr), 0);
  EXPECT_EQ(aclDestroyBoolArray(nullptr), 0);
  EXPECT_EQ(aclDestroyFloatArray(nullptr), 0);
  EXPECT_EQ(aclDestroyTensorList(nullptr), 0);
  EXPECT_EQ(aclDestroyScalarList(nullptr), 0);
}

TEST(Object, ListsOwnTheirMembers) {
  const size_t before = ObjectPool<aclTensor>::live_count();
  const aclTensor* members[] = {make(kShape, 2), nullptr, make(kShape, 2)};
  aclTensorList* list = aclCreateTensorList(members, 3);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(aclDestroyTensorList(list), 0);
  EXPECT_EQ(ObjectPool<aclTensor>::live_count(), before);
  EXPECT_EQ(aclDestroyTensor(members[0]), 161002);
}

TEST(Object, ArraysOfNothingExist) {
  aclIntArray* ints = aclCreateIntArray(nullptr, 0);
  aclTensorList* list = aclCreateTensorList(nullptr, 0);
  EXPECT_NE(ints, nullptr);
  EXPECT_NE(list, nullptr);
  aclDestroyIntArray(ints);
  aclDestroyTensorList(list);
}

TEST(Object, CreatedHereDestroyedThere) {
  const size_t before = ObjectPool<aclTensor>::live_count();
  for (int round = 0; round < 20; ++round) {
    std::vector<aclTensor*> made;
    std::thread([&] {
      for (int i = 0; i < 200; ++i) made.push_back(make(kShape, 2));
    }).join();
    for (aclTensor* t : made) EXPECT_EQ(aclDestroyTensor(t), 0);
  }
  EXPECT_EQ(ObjectPool<aclTensor>::live_count(), before);
}

TEST(Object, ErrorTextBelongsToItsThread) {
  make(nullptr, 2);
  std::thread([] { EXPECT_STREQ(recent_error(), ""); }).join();
  EXPECT_NE(std::string(recent_error()).find("[aclCreateTensor] viewDims is null"), std::string::npos);
  EXPECT_STREQ(recent_error(), "");
}

}  // namespace
}  // namespace npu::acl
