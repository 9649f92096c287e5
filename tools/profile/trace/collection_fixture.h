// SPDX-License-Identifier: Apache-2.0
// A collection as a process would have left it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "device/trace/record.h"

namespace npu::profile {

namespace fs = std::filesystem;
using device::trace::CallRecord;
using device::trace::GraphRecord;
using device::trace::GroupRecord;
using device::trace::HostWork;
using device::trace::Level;
using device::trace::LinkRecord;
using device::trace::Need;
using device::trace::TaskRecord;
using device::trace::Unit;

class Collection : public ::testing::Test {
 protected:
  static constexpr int64_t kBegin = 1'700'000'000'000'000'000, kClock = 5'000'000;  ///< the same moment, by two clocks

  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "collectionXXXXXX").string();
    root = mkdtemp(name.data());
    folder = root / "PROF_000001_20231114221320000_ABCDEFGH";
    fs::create_directories(folder / "host/data");
    fs::create_directories(folder / "device_0/data");
    write("host/info.json", R"({"pid":"77","anynpu_format":1})");
    write("host/start_info", R"({"collectionTimeBegin":"1700000000000000","clockMonotonicRaw":"5000000"})");
    write("host/data/anynpu.texts", "");
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const fs::path& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  template <class Record>
  void write(const fs::path& name, const std::vector<Record>& records) const {
    write(name, std::string(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(Record)));
  }
  void write_texts(const std::vector<std::string>& texts) const {
    std::string bytes;
    for (const std::string& text : texts) {
      const auto length = static_cast<uint32_t>(text.size());
      bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
      bytes += text;
    }
    write("host/data/anynpu.texts", bytes);
  }
  /// From `start` to `end`, nanoseconds after the beginning.
  static TaskRecord task(int64_t start, int64_t end, Unit unit, uint32_t type, uint32_t name, int32_t stream = 3) {
    TaskRecord made;
    made.start = kClock + start, made.end = kClock + end, made.launched = kClock + start - 500;
    made.launcher = 78, made.unit = unit, made.type = type, made.name = name, made.stream = stream;
    return made;
  }
  static GraphRecord work(int64_t start, int64_t end, HostWork kind, uint32_t graph) {
    GraphRecord made;
    made.start = kClock + start, made.end = kClock + end, made.thread = 78, made.work = kind, made.graph = graph;
    return made;
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// The one file whose name begins and ends so, of what was exported.
  std::string exported(const std::string& prefix, const std::string& extension = ".csv") const {
    for (const auto& entry : fs::directory_iterator(folder / "mindstudio_profiler_output"))
      if (entry.path().filename().string().starts_with(prefix) && entry.path().extension() == extension)
        return read(entry.path());
    ADD_FAILURE() << "no " << prefix << extension;
    return "";
  }

  fs::path root, folder;
};

}  // namespace npu::profile
