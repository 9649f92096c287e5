// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/foreach.h"

#include <gtest/gtest.h>

#include <string>

#include "acl/aclnn/phase.h"
#include "acl/aclnn/tensor_fixture.h"
#include "acl/error_state.h"
#include "aclnnop/aclnn_foreach_add_list_v2.h"
#include "aclnnop/aclnn_foreach_addcmul_scalar_list.h"
#include "aclnnop/aclnn_foreach_mul_scalar_list.h"
#include "aclnnop/aclnn_foreach_zero_inplace.h"

namespace npu::acl {
namespace {

using Floats = TestTensor<float>;

/// Two tensors {1, 2, 3} and {4, 5} times `scale`; the aclTensorList owns their descriptions.
struct Pair {
  Floats first, second;
  aclTensorList* list;
  explicit Pair(float scale) : first({3}, {scale, 2 * scale, 3 * scale}), second({2}, {4 * scale, 5 * scale}) {
    const aclTensor* members[] = {first.release(), second.release()};
    list = aclCreateTensorList(members, 2);
  }
  ~Pair() { aclDestroyTensorList(list); }
};

struct Call {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
};

TEST(Foreach, ListsMemberByMember) {
  Pair a(1), b(10), out(0);
  double two = 2;
  aclScalar* alpha = aclCreateScalar(&two, ACL_DOUBLE);
  Call c;
  ASSERT_EQ(aclnnForeachAddListV2GetWorkspaceSize(a.list, b.list, alpha, out.list, &c.size, &c.executor), 0)
      << recent_error();
  ASSERT_EQ(aclnnForeachAddListV2(nullptr, 0, c.executor, nullptr), 0);
  EXPECT_EQ(out.first.values(), (std::vector<float>{21, 42, 63}));
  EXPECT_EQ(out.second.values(), (std::vector<float>{84, 105}));
  aclDestroyScalar(alpha);
}

TEST(Foreach, ScalarListAndInPlaceZero) {
  Pair a(1);
  double factors[] = {3, 5};
  const aclScalar* scalars[] = {aclCreateScalar(&factors[0], ACL_DOUBLE), aclCreateScalar(&factors[1], ACL_DOUBLE)};
  aclScalarList* list = aclCreateScalarList(scalars, 2);
  Call c;
  ASSERT_EQ(aclnnForeachMulScalarListGetWorkspaceSize(a.list, list, a.list, &c.size, &c.executor), 0) << recent_error();
  ASSERT_EQ(aclnnForeachMulScalarList(nullptr, 0, c.executor, nullptr), 0);
  EXPECT_EQ(a.second.values(), (std::vector<float>{20, 25}));
  ASSERT_EQ(aclnnForeachZeroInplaceGetWorkspaceSize(a.list, &c.size, &c.executor), 0) << recent_error();
  ASSERT_EQ(aclnnForeachZeroInplace(nullptr, 0, c.executor, nullptr), 0);
  EXPECT_EQ(a.first.values(), (std::vector<float>{0, 0, 0}));
  aclDestroyScalarList(list);
}

TEST(Foreach, OneNumberPerMemberFromATensor) {
  Pair a(1), b(1), out(0);
  Floats values({2}, {10, 100});
  Call c;
  ASSERT_EQ(
      aclnnForeachAddcmulScalarListGetWorkspaceSize(a.list, b.list, b.list, values, out.list, &c.size, &c.executor), 0)
      << recent_error();
  ASSERT_EQ(aclnnForeachAddcmulScalarList(nullptr, 0, c.executor, nullptr), 0);
  EXPECT_EQ(out.first.values(), (std::vector<float>{11, 42, 93}));
  EXPECT_EQ(out.second.values(), (std::vector<float>{1604, 2505}));
  Floats short_values({1}, {10});
  EXPECT_EQ(aclnnForeachAddcmulScalarListGetWorkspaceSize(a.list, b.list, b.list, short_values, out.list, &c.size,
                                                          &c.executor),
            161002);
}

TEST(Foreach, ListsOfDifferentLengthAreRefused) {
  Pair a(1), out(0);
  Floats one({3});
  const aclTensor* members[] = {one.release()};
  aclTensorList* shorter = aclCreateTensorList(members, 1);
  Call c;
  EXPECT_EQ(aclnnForeachAddListV2GetWorkspaceSize(a.list, shorter, nullptr, out.list, &c.size, &c.executor), 161002);
  EXPECT_EQ(std::string(recent_error()).rfind("[aclnnForeachAddListV2] lists differ in length: self has 2 members", 0),
            0u);
  aclDestroyTensorList(shorter);
}

TEST(Foreach, EmptyAndNullListsDoNothing) {
  aclTensorList* empty = aclCreateTensorList(nullptr, 0);
  Call c;
  ASSERT_EQ(aclnnForeachZeroInplaceGetWorkspaceSize(empty, &c.size, &c.executor), 0) << recent_error();
  EXPECT_EQ(aclnnForeachZeroInplace(nullptr, 0, c.executor, nullptr), 0);
  ASSERT_EQ(aclnnForeachZeroInplaceGetWorkspaceSize(nullptr, &c.size, &c.executor), 0) << recent_error();
  EXPECT_EQ(aclnnForeachZeroInplace(nullptr, 0, c.executor, nullptr), 0);
  aclDestroyTensorList(empty);
}

TEST(Foreach, ErrorsNameTheMember) {
  Pair a(1), out(0);
  Floats x({3}), y({7});
  const aclTensor* members[] = {x.release(), y.release()};
  aclTensorList* wrong = aclCreateTensorList(members, 2);
  double one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_DOUBLE);
  Call c;
  EXPECT_EQ(aclnnForeachAddListV2GetWorkspaceSize(a.list, wrong, alpha, out.list, &c.size, &c.executor), 161002);
  EXPECT_EQ(std::string(recent_error()).rfind("[aclnnForeachAddListV2] member 1: ", 0), 0u);
  aclDestroyScalar(alpha);
  aclDestroyTensorList(wrong);
}

}  // namespace
}  // namespace npu::acl
