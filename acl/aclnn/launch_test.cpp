// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/launch.h"

#include <gtest/gtest.h>

#include <string>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/error_state.h"
#include "acl/include/acl/acl_rt.h"
#include "aclnnop/aclnn_embedding.h"

namespace npu::acl {
namespace {

constexpr int kFailed = static_cast<int>(Code::kAicoreException);

std::string text() { return recent_error(); }

struct BadEmbedding {
  TestTensor<float> table{{2, 2}, {1, 2, 3, 4}}, out{{3, 2}};
  TestTensor<int64_t> index{{3}, {0, 1, 2}};
  BadEmbedding() { device::detail::inline_kernels.override(true); }
  ~BadEmbedding() { detail::task_queue.reload(); }
  int run() {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnEmbeddingGetWorkspaceSize(table, index, out, &size, &executor), 0) << text();
    return aclnnEmbedding(nullptr, 0, executor, nullptr);
  }
};

TEST(Launch, AFailedKernelIsToldAtSynchronisationWithTheCodeOfFailedTasks) {
  BadEmbedding call;
  detail::task_queue.override("1");
  EXPECT_EQ(call.run(), 0) << text();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), kFailed);
  EXPECT_NE(text().find("index holds 2 at position 2"), std::string::npos);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0) << "it was told";
}

TEST(Launch, WithoutAQueueOfTheClientsItIsToldByTheCall) {
  BadEmbedding call;
  detail::task_queue.override("0");
  EXPECT_EQ(call.run(), kFailed);
  EXPECT_NE(text().find("[aclnnEmbedding] aclnnEmbedding failed on stream"), std::string::npos);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0) << "it was told";
  EXPECT_EQ(call.run(), kFailed) << "the stream goes on";
  EXPECT_NE(text().find("index holds 2 at position 2"), std::string::npos);
  device::detail::inline_kernels.override(false);
  EXPECT_EQ(call.run(), 0) << "a kernel that runs elsewhere fails later";
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), kFailed);
  device::detail::inline_kernels.override(true);
}

}  // namespace
}  // namespace npu::acl
