// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/option.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "acl/include/acl/acl_prof.h"
#include "acl/include/anynpu/profile.h"
#include "acl/profiling/session.h"
#include "acl/runtime/runtime_fixture.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "device/trace/control.h"
#include "device/trace/module.h"
#include "device/trace/recorder.h"

namespace npu::acl {
namespace {

namespace fs = std::filesystem;

ProfilingOptions parsed(const char* text) { return parse_profiling_options(text, "OPTIONS"); }

TEST(ProfilingOptions, WhatActsIsRead) {
  const ProfilingOptions plain = parsed("{}");
  EXPECT_EQ(plain.output, "./");
  EXPECT_EQ(plain.kinds, kCollectCalls | kCollectShapes);
  const ProfilingOptions little = parsed(R"({"output": "/tmp/p", "task_time": "l0", "msproftx": "on"})");
  EXPECT_EQ(little.output, "/tmp/p");
  EXPECT_EQ(little.kinds, kCollectCalls | kCollectMarks);
  // The guide's own, with words that are recorded anyway.
  testing::internal::CaptureStderr();
  parsed(R"({"output":"/tmp/p","training_trace":"on","task_trace":"on","fp_point":"","bp_point":"","hccl":"on"})");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProfilingOptions, WhatCannotBeRecordedIsToldOnce) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i)
    parsed(R"({"aic_metrics": "PipeUtilization", "l2": "on", "sys_io_sampling_freq": 100, "dvpp_freq": "off",
               "storage_limit": "200MB"})");
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(told, '\n'), 2) << told;
  for (const char* part : {"aic_metrics, l2, sys_io_sampling_freq ask for", "storage_limit changes nothing"})
    EXPECT_NE(told.find(part), std::string::npos) << part << " in " << told;
  EXPECT_EQ(told.find("dvpp_freq"), std::string::npos) << told;
}

TEST(ProfilingOptions, WrongValuesAreRefusedByName) {
  const auto refused = [](const char* text, Code code, const char* part) {
    try {
      parsed(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << text;
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused("output=/tmp", Code::kParseFile, "OPTIONS is no JSON object");
  refused("[]", Code::kParseFile, "OPTIONS is no JSON object");
  refused(R"({"output": 7})", Code::kInvalidParam, "OPTIONS: output is 7");
  refused(R"({"outptu": "/tmp"})", Code::kInvalidParam, "OPTIONS: 'outptu' is no option of profiling");
  refused(R"({"output": ""})", Code::kInvalidParam, "output is empty");
  refused(R"({"task_time": "l7"})", Code::kInvalidParam, "task_time is 'l7'; write on, off, l0 or l1");
}

TEST_F(OnDevice, ACollectionByOptionsHasAllDevices) {
  std::string name = (fs::temp_directory_path() / "optionXXXXXX").string();
  const fs::path folder = fs::path(mkdtemp(name.data())) / "made";
  const std::string options = Json{{"output", folder.string()}, {"fp_point", "first"}}.dump();
  testing::internal::CaptureStderr();
  ASSERT_OK(anynpu_profile_start(options.c_str(), 0));
  ASSERT_OK(anynpu_profile_start(options.c_str(), 0));  // it runs
  testing::internal::GetCapturedStderr();
  std::string told;
  anynpu_profile_folder([](const char* text, void* place) { *static_cast<std::string*>(place) = text; }, &told);
  EXPECT_EQ(fs::path(told).parent_path(), folder);
  EXPECT_TRUE(join_collection(1));
  for (const char* file : {"host/info.json", "device_0/info.json.0", "device_1/info.json.1", "device_1/start_info.1"})
    EXPECT_TRUE(fs::exists(fs::path(told) / file)) << file;
  EXPECT_EQ(Json::parse(whole_file(told + "/host/sample.json").value()).value("fp_point", ""), "first");
  EXPECT_EQ(anynpu_profile_running(), 1);
  ASSERT_OK(anynpu_profile_stop());
  EXPECT_EQ(anynpu_profile_running(), 0);
  EXPECT_EQ(anynpu_profile_stop(), 100037);
  EXPECT_TRUE(fs::exists(fs::path(told) / "device_1/end_info.1"));
  EXPECT_FALSE(join_collection(1));
  EXPECT_EQ(anynpu_profile_start("{", 0), 100006);
  EXPECT_EQ(anynpu_profile_start(R"({"output": "/proc/no"})", 0), 100000);
  fs::remove_all(folder.parent_path());
}

TEST_F(OnDevice, ModulesAreNotedDownWhereMarksAreKept) {
  std::string name = (fs::temp_directory_path() / "moduleXXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const std::string options = Json{{"output", folder.string()}, {"msproftx", "on"}}.dump();
  ASSERT_OK(anynpu_profile_module("before.all", 0));
  testing::internal::CaptureStderr();
  ASSERT_OK(anynpu_profile_start(options.c_str(), 0));
  testing::internal::GetCapturedStderr();
  fs::path told;
  anynpu_profile_folder([](const char* text, void* place) { *static_cast<fs::path*>(place) = text; }, &told);
  for (const auto& [path, phase] : {std::pair("model.layers.3", 1), {"Adam.step", 2}, {"", 0}})
    ASSERT_OK(anynpu_profile_module(path, phase));
  EXPECT_EQ(anynpu_profile_module(nullptr, 0), 100000);
  EXPECT_EQ(anynpu_profile_module("model", 3), 100000);
  EXPECT_EQ(anynpu_profile_module("model", -1), 100000);
  ASSERT_OK(anynpu_profile_stop());
  std::ifstream file(told / "host/data/anynpu.marks", std::ios::binary);
  std::vector<std::pair<uint64_t, bool>> seen;
  for (device::trace::MarkRecord mark; file.read(reinterpret_cast<char*>(&mark), sizeof mark);)
    if (mark.end != 0) {
      EXPECT_EQ(mark.start, mark.end);
      EXPECT_EQ(mark.domain, device::trace::number_of(device::trace::kModuleDomain));
      seen.emplace_back(mark.number, mark.text != 0);
    }
  EXPECT_EQ(seen, (std::vector<std::pair<uint64_t, bool>>{{1, true}, {2, true}, {0, false}}));
  fs::remove_all(folder);
}

/// What a process in dynamic mode answers to lines.
class Control : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    [[maybe_unused]] static const bool listens = (listen_for_control(controlled(0)), true);
    const auto [address, size] = device::trace::control_address(getpid());
    socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0) << std::strerror(errno);
  }
  void TearDown() override { close(socket_); }
  std::string ask(const std::string& line) const {
    EXPECT_EQ(send(socket_, (line + "\n").data(), line.size() + 1, MSG_NOSIGNAL),
              static_cast<ssize_t>(line.size() + 1));
    std::string told;
    for (char c = 0; recv(socket_, &c, 1, 0) == 1 && c != '\n';) told += c;
    return told;
  }
  int socket_ = -1;
};

TEST_F(Control, CollectionsBeginAndEndByLines) {
  std::string name = (fs::temp_directory_path() / "controlXXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const std::string start = "start " + Json{{"output", folder.string()}}.dump();
  EXPECT_EQ(ask("stop").find("error "), 0u);
  testing::internal::CaptureStderr();
  const std::string told = ask(start);
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(told.find("ok " + folder.string()), 0u) << told;
  EXPECT_NE(ask(start).find("stop it first"), std::string::npos);
  EXPECT_EQ(ask("stop"), told);
  EXPECT_TRUE(fs::exists(fs::path(told.substr(3)) / "host/end_info"));
  EXPECT_NE(ask("start {").find("error start is no JSON object"), std::string::npos);
  EXPECT_NE(ask("quit").find("error 'start"), std::string::npos);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace npu::acl
