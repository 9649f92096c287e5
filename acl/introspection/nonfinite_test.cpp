// SPDX-License-Identifier: Apache-2.0
#include "anynpu/nonfinite.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/error_state.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_log.h"

namespace npu::acl {
namespace {

using Floats = TestTensor<float>;

struct Told {
  std::vector<std::string> texts;
  anynpu_nonfinite last{};
  std::vector<int64_t> sizes;
};

void write_down(const anynpu_nonfinite* found, void* context) {
  auto& told = *static_cast<Told*>(context);
  told.texts.emplace_back(found->text);
  told.last = *found;
  told.sizes.assign(found->sizes, found->sizes + found->rank);
}

class NonFiniteDoor : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    anynpu_watch_nonfinite(write_down, &told);
  }
  void TearDown() override { anynpu_watch_nonfinite(nullptr, nullptr); }

  static void log_of(std::vector<float> numbers) {
    const Floats x({static_cast<int64_t>(numbers.size())}, numbers), out({static_cast<int64_t>(numbers.size())});
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnLogGetWorkspaceSize(x, out, &size, &executor), 0) << recent_error();
    ASSERT_EQ(aclnnLog(nullptr, size, executor, nullptr), 0);
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
  }

  Told told;
};

TEST_F(NonFiniteDoor, TellsTheCallThatMadeThem) {
  log_of({1, 2});
  EXPECT_TRUE(told.texts.empty());
  log_of({0, -1, 1});
  ASSERT_EQ(told.texts.size(), 1u);
  EXPECT_EQ(told.texts[0], "aclnnLog made 1 infinity and 1 NaN of finite inputs: output out float32[3]");
  EXPECT_EQ(told.last.struct_size, sizeof(anynpu_nonfinite));
  EXPECT_EQ(told.last.infinities, 1);
  EXPECT_EQ(told.last.nans, 1);
  EXPECT_EQ(told.last.of_infinities, 0);
  EXPECT_EQ(told.last.dtype, ACL_FLOAT);
  EXPECT_EQ(told.sizes, std::vector<int64_t>{3});
}

TEST_F(NonFiniteDoor, NothingIsToldOnceItIsEnded) {
  anynpu_watch_nonfinite(nullptr, nullptr);
  log_of({0});
  EXPECT_TRUE(told.texts.empty());
}

}  // namespace
}  // namespace npu::acl
