// SPDX-License-Identifier: Apache-2.0
// Dumps that a function of the client takes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "acl/aclnn/tensor_fixture.h"
#include "acl/error_state.h"
#include "acl/include/acl/acl_dump.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/runtime/runtime_fixture.h"
#include "aclnnop/aclnn_log.h"
#include "graph/dump/record/dump_file.h"

namespace npu::acl {
namespace {

namespace fs = std::filesystem;
using Floats = TestTensor<float>;

constexpr int64_t kMany = 400'000;  // elements: more than one part holds

struct Taken {
  std::string bytes;
  uint32_t parts = 0, last = 0;
};
std::map<std::string, Taken> taken;
int32_t answer = 0;
std::mutex gate;  // held by who wants the function to wait

int32_t take(const acldumpChunk* chunk, int32_t len) {
  const std::lock_guard lock(gate);
  EXPECT_EQ(static_cast<size_t>(len), sizeof(acldumpChunk) + chunk->bufLen);
  EXPECT_EQ(acldumpUnregCallback(), 100000);  // it would wait for itself
  Taken& file = taken[chunk->fileName];
  EXPECT_EQ(chunk->offset, static_cast<int64_t>(file.bytes.size()));
  EXPECT_EQ(chunk->flag, 0);
  file.bytes.append(reinterpret_cast<const char*>(chunk->dataBuf), chunk->bufLen);
  ++file.parts, file.last = chunk->isLastChunk;
  return answer;
}

class DumpCallback : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    std::string name = (fs::temp_directory_path() / "chunksXXXXXX").string();
    folder = mkdtemp(name.data());
    std::ofstream(folder / "acl.json") << R"({"dump":{"dump_op_switch":"on","dump_mode":"all","dump_path":")"
                                       << folder.string() << R"("}})";
    taken.clear(), answer = 0;
    ASSERT_OK(aclmdlInitDump());
  }
  void TearDown() override {
    aclmdlFinalizeDump();
    acldumpUnregCallback();
    fs::remove_all(folder);
  }
  void set_dump() { ASSERT_OK(aclmdlSetDump((folder / "acl.json").c_str())); }
  static void log_of(std::vector<float> numbers) {
    const Floats x({static_cast<int64_t>(numbers.size())}, numbers), out({static_cast<int64_t>(numbers.size())});
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnLogGetWorkspaceSize(x, out, &size, &executor), 0) << recent_error();
    ASSERT_EQ(aclnnLog(nullptr, size, executor, nullptr), 0);
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
  }
  size_t files_on_disk() const {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) count += entry.is_regular_file();
    return count - 1;  // acl.json
  }

  fs::path folder;
};

TEST_F(DumpCallback, HasTheWholeFileAndTheDiskNone) {
  ASSERT_OK(acldumpRegCallback(take, 0));
  set_dump();
  log_of(std::vector<float>(kMany, 2.0F));
  ASSERT_OK(acldumpUnregCallback());
  EXPECT_EQ(files_on_disk(), 0u);
  ASSERT_EQ(taken.size(), 1u);
  const auto& [path, file] = *taken.begin();
  EXPECT_EQ(path.rfind((folder / "").string(), 0), 0u) << path;
  EXPECT_GT(file.parts, 3u);
  EXPECT_EQ(file.last, 1u);
  std::ofstream(folder / "again", std::ios::binary) << file.bytes;
  const graph::record::DumpFile read((folder / "again").string());
  EXPECT_EQ(read.blobs().inputs.at(0).size(), kMany * sizeof(float));
  EXPECT_EQ(read.blobs().outputs.at(0).size(), kMany * sizeof(float));
  log_of({1, 2});  // to the disk
  ASSERT_OK(aclmdlFinalizeDump());
  ASSERT_OK(aclmdlInitDump());
  EXPECT_EQ(files_on_disk(), 2u);
  EXPECT_EQ(taken.size(), 1u);
}

TEST_F(DumpCallback, HasAllThatWasDumpedBeforeItsEnd) {
  ASSERT_OK(acldumpRegCallback(take, 0));
  set_dump();
  std::atomic<bool> ended = false;
  std::unique_lock lock(gate);
  for (int i = 0; i < 3; ++i) log_of({1, 2});
  std::thread end([&] { EXPECT_EQ(acldumpUnregCallback(), 0), ended = true; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // who does not wait has ended by then
  EXPECT_FALSE(ended);
  lock.unlock();
  end.join();
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(files_on_disk(), 0u);
}

TEST_F(DumpCallback, ARefusalEndsTheDumpAndSaysSo) {
  ASSERT_OK(acldumpRegCallback(take, 0));
  answer = 7;
  set_dump();
  testing::internal::CaptureStderr();
  log_of({1, 2});
  log_of({1, 2});
  ASSERT_OK(acldumpUnregCallback());
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("the function of acldumpRegCallback returned 7"), std::string::npos) << told;
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_EQ(files_on_disk(), 0u);
}

TEST_F(DumpCallback, IsRegisteredOnceAndWithItsOnlyFlag) {
  EXPECT_EQ(acldumpUnregCallback(), 100000);
  EXPECT_EQ(acldumpRegCallback(nullptr, 0), 100000);
  EXPECT_EQ(acldumpRegCallback(take, 1), 100000);
  EXPECT_NE(std::string(recent_error()).find("flag is 1"), std::string::npos) << recent_error();
  ASSERT_OK(acldumpRegCallback(take, 0));
  EXPECT_EQ(acldumpRegCallback(take, 0), 100000);
  EXPECT_NE(std::string(recent_error()).find("acldumpUnregCallback"), std::string::npos) << recent_error();
}

}  // namespace
}  // namespace npu::acl
