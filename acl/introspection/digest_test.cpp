// SPDX-License-Identifier: Apache-2.0
#include "anynpu/digest.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/error_state.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_log.h"

namespace npu::acl {
namespace {

using Floats = TestTensor<float>;

void write_down(const char* type, void* context) {
  static_cast<std::vector<std::string>*>(context)->emplace_back(type);
}

class DigestDoor : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    std::string name = (std::filesystem::temp_directory_path() / "digestXXXXXX").string();
    folder = mkdtemp(name.data());
  }
  void TearDown() override {
    anynpu_digest_stop();
    std::filesystem::remove_all(folder);
  }
  static void log_of(std::vector<float> numbers) {
    const Floats x({static_cast<int64_t>(numbers.size())}, numbers), out({static_cast<int64_t>(numbers.size())});
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnLogGetWorkspaceSize(x, out, &size, &executor), 0) << recent_error();
    ASSERT_EQ(aclnnLog(nullptr, size, executor, nullptr), 0);
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
  }

  std::filesystem::path folder;
  std::vector<std::string> told;
};

TEST_F(DigestDoor, WritesAFile) {
  const std::string file = folder / "run.digest";
  ASSERT_OK(anynpu_digest_start(file.c_str(), nullptr, nullptr, nullptr));
  EXPECT_EQ(anynpu_digest_start(file.c_str(), nullptr, nullptr, nullptr), 100044);
  log_of({1, 2});
  anynpu_digest_stop();
  EXPECT_GT(std::filesystem::file_size(file), 0u);
}

TEST_F(DigestDoor, RefusesWhatItCannotDo) {
  EXPECT_EQ(anynpu_digest_start(nullptr, nullptr, nullptr, nullptr), 100000);
  EXPECT_EQ(anynpu_digest_start("/nowhere/run.digest", nullptr, nullptr, nullptr), 100003);
  const std::string file = folder / "run.digest";
  EXPECT_EQ(anynpu_digest_start(file.c_str(), "0/1", write_down, &told), 100000);
  EXPECT_NE(std::string(recent_error()).find("place is '0/1'"), std::string::npos);
  EXPECT_EQ(anynpu_digest_start(file.c_str(), "0/1/0/", nullptr, nullptr), 100000);
}

}  // namespace
}  // namespace npu::acl
