// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/include/acl/acl_prof.h"
#include "acl/include/driver/ascend_hal.h"
#include "acl/profiling/session.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_log.h"
#include "device/trace/record.h"

namespace npu::acl {
namespace {

namespace fs = std::filesystem;
using Floats = TestTensor<float>;

class Collections : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    std::string name = (fs::temp_directory_path() / "profilingXXXXXX").string();
    folder = mkdtemp(name.data());
  }
  void TearDown() override {
    aclprofFinalize();
    fs::remove_all(folder);
  }
  int open() const { return aclprofInit(folder.c_str(), folder.native().size()); }
  static aclprofConfig* configured(uint64_t kinds) {
    uint32_t device = 0;
    return aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, kinds);
  }
  static void log_of_two() {
    const Floats x({2}, {1, 2}), out({2});
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnLogGetWorkspaceSize(x, out, &size, &executor), 0);
    ASSERT_EQ(aclnnLog(nullptr, size, executor, nullptr), 0);
  }
  static std::string texts() {
    std::ifstream file(fs::path(collection_folder()) / "host/data" / device::trace::kTextFile, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::vector<device::trace::TaskRecord> tasks() {
    std::ifstream file(fs::path(collection_folder()) / "device_0/data" / device::trace::kTaskFile, std::ios::binary);
    std::vector<device::trace::TaskRecord> found;
    device::trace::TaskRecord record;
    while (file.read(reinterpret_cast<char*>(&record), sizeof record))
      if (record.end != 0) found.push_back(record);
    return found;
  }
  static uintmax_t size_of(const char* file) {
    std::error_code error;
    const uintmax_t size = fs::file_size(fs::path(collection_folder()) / file, error);
    return error ? 0 : size;
  }

  fs::path folder;
};

TEST_F(Collections, ACollectionLeavesAFolder) {
  ASSERT_OK(open());
  aclprofConfig* config = configured(ACL_PROF_ACL_API | ACL_PROF_TASK_TIME);
  ASSERT_NE(config, nullptr);
  EXPECT_OK(aclprofWarmup(config));
  EXPECT_OK(aclprofStart(config));
  log_of_two();
  EXPECT_OK(aclprofStop(config));
  const fs::path first = collection_folder();
  EXPECT_EQ(first.parent_path(), folder);
  EXPECT_TRUE(first.filename().string().starts_with("PROF_000001_")) << first;
  for (const char* file :
       {"host/info.json", "host/start_info", "host/end_info", "device_0/info.json.0", "device_0/start_info.0",
        "device_0/end_info.0", "device_0/data/anynpu.tasks", "host/data/anynpu.calls"})
    EXPECT_GT(size_of(file), 0u) << file;
  ASSERT_EQ(tasks().size(), 1u);
  EXPECT_NE(tasks()[0].inputs, 0u);
  for (const char* text : {"aclnnLog", "aclnnLog_Log", "2|FLOAT|ND"})
    EXPECT_NE(texts().find(text), std::string::npos) << text;
  // The next has a folder of its own; what nobody asked for is not there.
  aclprofConfig* little = configured(0);
  EXPECT_OK(aclprofStart(little));
  log_of_two();
  EXPECT_EQ(aclprofStop(config), 100000);
  EXPECT_OK(aclprofStop(little));
  EXPECT_NE(first, collection_folder());
  EXPECT_NE(texts().find("aclnnLog_Log"), std::string::npos);
  for (const device::trace::TaskRecord& task : tasks()) EXPECT_EQ(task.inputs, 0u);
  EXPECT_EQ(size_of("host/data/anynpu.calls"), 0u);
  EXPECT_OK(aclprofDestroyConfig(config));
  EXPECT_OK(aclprofDestroyConfig(little));
  EXPECT_OK(aclprofFinalize());
}

TEST_F(Collections, MarksAndMemoryHaveFiles) {
  ASSERT_OK(open());
  aclprofConfig* config = configured(ACL_PROF_MSPROFTX);
  const OwnStream stream;
  ASSERT_OK(aclprofStart(config));
  ASSERT_OK(aclprofMarkEx("now", 3, stream));
  aclprofStepInfo* const step = aclprofCreateStepInfo();
  ASSERT_OK(aclprofGetStepTimestamp(step, ACL_STEP_START, stream));
  ASSERT_OK(aclprofGetStepTimestamp(step, ACL_STEP_END, stream));
  aclprofDestroyStepInfo(step);
  { const Memory memory(512); }
  ASSERT_OK(aclprofStop(config));
  EXPECT_GT(size_of("host/data/anynpu.marks"), 0u);
  EXPECT_GT(size_of("host/data/anynpu.memory"), 0u);
  EXPECT_NE(texts().find("now"), std::string::npos);
  for (const device::trace::TaskRecord& task : tasks()) EXPECT_EQ(task.number, 0u) << "a mark is no task";
  // Marks are kept for who asks for them.
  aclprofConfig* little = configured(0);
  ASSERT_OK(aclprofStart(little));
  ASSERT_OK(aclprofMarkEx("now", 3, stream));
  ASSERT_OK(aclprofStop(little));
  EXPECT_EQ(size_of("host/data/anynpu.marks"), 0u);
  EXPECT_OK(aclprofDestroyConfig(config));
  EXPECT_OK(aclprofDestroyConfig(little));
}

TEST_F(Collections, TheEndOfProfilingEndsACollection) {
  ASSERT_OK(open());
  aclprofConfig* config = configured(0);
  EXPECT_OK(aclprofStart(config));
  EXPECT_OK(aclprofFinalize());
  EXPECT_GT(size_of("host/end_info"), 0u);
  ASSERT_OK(open());
  EXPECT_EQ(aclprofStop(config), 100043);
  EXPECT_OK(aclprofDestroyConfig(config));
}

TEST_F(Collections, LaterDevicesJoinWhereThatWasAskedFor) {
  uint32_t count = 0;
  ASSERT_OK(aclrtGetDeviceCount(&count));
  const auto last = static_cast<int>(count) - 1;  // no other test sets it
  if (last < 1) GTEST_SKIP() << "one device";
  ASSERT_OK(open());
  aclprofConfig* config = configured(0);
  ASSERT_OK(aclprofStart(config));
  ASSERT_OK(aclprofRegisterDeviceCallback());
  ASSERT_OK(aclrtSetDevice(last));
  ASSERT_OK(aclprofStop(config));
  const std::string number = std::to_string(last);
  EXPECT_GT(size_of(("device_" + number + "/end_info." + number).c_str()), 0u);
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclprofDestroyConfig(config));
}

TEST_F(Collections, TheDriverHasAVersion) {
  int32_t version = 0;
  EXPECT_EQ(halGetAPIVersion(&version), 0);
  EXPECT_GT(version, 0x070000);
  EXPECT_LT(version, 0x071905) << "times would be read as counts of a clock of the chip";
  EXPECT_EQ(halGetAPIVersion(nullptr), 3);
}

TEST_F(Collections, WrongCallsAreRefused) {
  const auto refused = [](int code, int wanted, const char* part) {
    EXPECT_EQ(code, wanted);
    const char* text = aclGetRecentErrMsg();
    EXPECT_NE(std::string(text == nullptr ? "" : text).find(part), std::string::npos) << text;
  };
  refused(aclprofFinalize(), 100037, "aclprofInit");
  refused(aclprofInit(nullptr, 4), 100000, "profilerResultPath is null");
  refused(aclprofInit("/nowhere", 8), 100000, "'/nowhere' is no folder");
  aclprofConfig* config = configured(0);
  refused(aclprofStart(config), 100001, "call aclprofInit first");
  ASSERT_OK(open());
  refused(open(), 100002, "aclprofFinalize");
  refused(aclprofStop(config), 100043, "aclprofStart");
  refused(aclprofStart(nullptr), 100000, "profilerConfig is null");
  EXPECT_OK(aclprofStart(config));
  refused(aclprofStart(config), 100042, "aclprofStop");
  EXPECT_OK(aclprofStop(config));
  EXPECT_OK(aclprofDestroyConfig(config));
  refused(aclprofDestroyConfig(config), 100000, "destroyed");
  refused(aclprofStart(config), 100000, "no configuration");
  uint32_t device = 99;
  EXPECT_EQ(aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, 0), nullptr);
  refused(0, 0, "99");
  EXPECT_EQ(aclprofCreateConfig(nullptr, 1, ACL_AICORE_NONE, nullptr, 0), nullptr);
  refused(0, 0, "deviceIdList is null");
  refused(aclprofSetConfig(0, "50", 2), 200007, "sampler");
  size_t size = 9;
  void* data = &size;
  EXPECT_OK(aclprofGetSupportedFeaturesV2(&size, &data));
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(data, nullptr);
  refused(aclprofGetSupportedFeatures(nullptr, &data), 100000, "featuresSize is null");
}

}  // namespace
}  // namespace npu::acl
