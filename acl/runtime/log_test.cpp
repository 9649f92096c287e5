// SPDX-License-Identifier: Apache-2.0
// Failed calls in the process log: what a user finds in the file that clients point at.
#include "base/log.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "acl/include/acl/acl_op_compiler.h"
#include "acl/include/aclnn/aclnn_base.h"
#include "acl/include/hccl/hccl.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_abs.h"

namespace npu::acl {
namespace {

namespace fs = std::filesystem;

class CallLog : public OnDevice {
 protected:
  void SetUp() override {
    if (const char* path = std::getenv("ASCEND_PROCESS_LOG_PATH")) before_ = path;
    setenv("ASCEND_PROCESS_LOG_PATH", folder_.c_str(), 1);
    log_reset();
    OnDevice::SetUp();
  }
  void TearDown() override {
    unsetenv("ASCEND_GLOBAL_LOG_LEVEL");
    before_.empty() ? unsetenv("ASCEND_PROCESS_LOG_PATH") : setenv("ASCEND_PROCESS_LOG_PATH", before_.c_str(), 1);
    log_reset();
    fs::remove_all(folder_);
  }
  std::vector<std::string> lines() const {
    log_reset();  // writes what waits
    std::vector<std::string> out;
    const fs::path folder = fs::path(folder_) / "debug" / "plog";
    if (!fs::exists(folder)) return out;
    for (const fs::path& file : fs::directory_iterator(folder)) {
      std::ifstream in(file);
      for (std::string line; std::getline(in, line);) out.push_back(line);
    }
    return out;
  }
  void expect_line(const std::vector<const char*>& parts) const {
    const std::vector<std::string> found = lines();
    ASSERT_EQ(found.size(), 1u);
    for (const char* part : parts) EXPECT_NE(found[0].find(part), std::string::npos) << found[0];
  }

 private:
  const std::string folder_ = fs::temp_directory_path() / fmt::format("anynpu-call-log-{}", getpid());
  std::string before_;
};

TEST_F(CallLog, AFailedCallOfTheRuntimeIsAnErrorWithItsCodeTextAndPlace) {
  EXPECT_EQ(aclrtSetDevice(99), 107001);
  expect_line({"[ERROR] ASCENDCL(", "[device/process/soc.cpp:", "aclrtSetDevice: returns 107001: ", "99"});
}

TEST_F(CallLog, SoIsOneOfAnAclnnFunction) {
  EXPECT_EQ(aclGetViewShape(nullptr, nullptr, nullptr), 161001);
  expect_line({"[ERROR] ASCENDCL(", "aclGetViewShape: returns 161001: tensor is null"});
}

TEST_F(CallLog, AndOneOfACollective) {
  EXPECT_EQ(HcclCommDestroy(nullptr), HCCL_E_PTR);
  expect_line({"[ERROR] ASCENDCL(", "HcclCommDestroy: returns 507000: comm is null"});
}

// A program without a fault leaves no file, although these calls do not return 0.
TEST_F(CallLog, AnswersThatClientsAskForAreNoErrors) {
  OwnStream stream;
  aclrtContext context = nullptr;
  int32_t device = 0;
  int codes[2] = {};
  std::thread([&] {
    codes[0] = aclrtGetDevice(&device);
    codes[1] = aclrtGetCurrentContext(&context);
  }).join();
  EXPECT_EQ(codes[0], 107002);
  EXPECT_EQ(codes[1], 107002);
  aclInit(nullptr);
  EXPECT_EQ(aclInit(nullptr), 100002);
  bool open = false;
  const auto wait = [](void* gate) {
    while (!__atomic_load_n(static_cast<bool*>(gate), __ATOMIC_ACQUIRE)) usleep(100);
  };
  EXPECT_OK(aclrtLaunchHostFunc(stream, wait, &open));
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), 507046);
  __atomic_store_n(&open, true, __ATOMIC_RELEASE);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtSubscribeReport(pthread_self(), stream));
  EXPECT_EQ(aclrtProcessReport(1), 507012);
  EXPECT_OK(aclrtUnSubscribeReport(pthread_self(), stream));
  EXPECT_EQ(lines(), std::vector<std::string>{});
  // The same calls with what is no answer.
  EXPECT_EQ(aclrtGetDevice(nullptr), 100000);
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(CallLog, AnswersAreThereAtInfo) {
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
  log_reset();
  int32_t device = 0;
  std::thread([&] { EXPECT_EQ(aclrtGetDevice(&device), 107002); }).join();
  expect_line({"[INFO] ASCENDCL(", "aclrtGetDevice: returns 107002"});
}

TEST_F(CallLog, CallsOfOperatorsAreThereAtDebugThoughTheyBeRefused) {
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "0", 1);
  log_reset();
  EXPECT_NE(aclnnAbsGetWorkspaceSize(nullptr, nullptr, nullptr, nullptr), 0);
  EXPECT_NE(aclopCompileAndExecute("Sleep", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, ACL_ENGINE_SYS,
                                   ACL_COMPILE_SYS, nullptr, nullptr),
            0);
  std::vector<std::string> calls;
  for (const std::string& line : lines())
    if (const size_t at = line.find(": called "); line.starts_with("[DEBUG] OP(") && at != std::string::npos)
      calls.push_back(line.substr(at + 9));
  EXPECT_EQ(calls, (std::vector<std::string>{"aclnnAbs", "Sleep"}));
}

}  // namespace
}  // namespace npu::acl
