// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/session.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <utility>

#include "acl/notice.h"
#include "acl/profiling/task_recorder.h"
#include "base/cores.h"
#include "base/error.h"
#include "comm/rendezvous/rank_source.h"
#include "device/process/soc.h"
#include "device/queue/progress.h"
#include "device/trace/clock.h"
#include "device/trace/group.h"
#include "device/trace/recorder.h"

namespace npu::acl {
namespace {

namespace fs = std::filesystem;
namespace trace = device::trace;
using Time = std::chrono::system_clock::time_point;

struct Profiling {
  std::mutex mutex;
  bool open = false;
  fs::path folder;  ///< where collections go
  fs::path collection;
  int collections = 0;
  std::vector<int> devices;
  std::unique_ptr<TaskLease> recorder;  ///< while one runs
};

// Never destroyed: a collection may run when the process ends.
Profiling& profiling() {
  static Profiling& instance = *new Profiling;
  return instance;
}

/// PROF_000001_20261126071601123_QWJEHRKA: the letters keep apart what begins in the same millisecond.
std::string folder_name(int number, Time time) {
  std::random_device random;
  std::string letters;
  for (int i = 0; i < 16; ++i) letters += static_cast<char>('A' + random() % 26);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time - seconds).count();
  return fmt::format("PROF_{:06}_{:%Y%m%d%H%M%S}{:03}_{}", number,
                     fmt::localtime(std::chrono::system_clock::to_time_t(time)), milliseconds, letters);
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush())
    fail(Code::kInvalidParam, "{} could not be written; is the disk full, or the folder another user's?",
         path.string());
}

/// When it began, by the clock of people and by that of the records: the first is what timelines show.
std::string moment(const char* name, const trace::Moment& now) {
  return fmt::format(R"({{"collectionTime{}":"{}","clockMonotonicRaw":"{}"}})", name, now.people / 1000,
                     now.monotonic - now.people % 1000);
}

/// Which rank of how many this process is: as its environment says, else in its largest communicator. -1: none.
struct Place {
  int64_t rank = -1, size = -1;
};
Place place_of_process() {
  Place place;
  for (const trace::GroupRecord& group : trace::groups())
    if (int64_t{group.size} > place.size) place = {group.rank, group.size};
  try {
    const auto source = comm::find_rank_source();
    if (source && source->rank != comm::kAnyRank) place = {source->rank, source->size};
  } catch (const Error&) {
    // Variables that make no sense are told where ranks join.
  }
  return place;
}

/// What the tools ask before they read anything.
std::string info(const std::vector<int>& devices) {
  const device::Soc& soc = device::soc();
  std::vector<std::string> chips;
  for (const int device : devices)
    chips.push_back(
        fmt::format(R"({{"id":{},"ai_core_num":{},"aiv_num":{}}})", device, soc.ai_cores, soc.vector_cores));
  const Place place = place_of_process();
  return fmt::format(
      R"({{"version":"1.0","pid":"{}","devices":"{}","CPU":[{{"Id":0,"Name":"software NPU","Frequency":"1000",)"
      R"("Logical_CPU_Count":{}}}],"DeviceInfo":[{}],"soc":"{}","rank_id":{},"world_size":{},"anynpu_format":{}}})",
      getpid(), fmt::join(devices, ","), usable_cores(), fmt::join(chips, ","), soc.name, place.rank, place.size,
      trace::kFormat);
}

/// `file` of the host's folder, and of each device's, where it has the device's number at its end.
void write_everywhere(const fs::path& folder, const std::vector<int>& devices, const char* file,
                      const std::string& text) {
  write(folder / "host" / file, text);
  for (const int device : devices)
    write(folder / fmt::format("device_{}", device) / fmt::format("{}.{}", file, device), text);
}

/// The rank may be known only when the process has met others.
void write_infos(const fs::path& folder, const std::vector<int>& devices) {
  write(folder / "host/info.json", info(devices));
  for (const int device : devices) write(folder / fmt::format("device_{0}/info.json.{0}", device), info({device}));
}

void make_device(const fs::path& folder, int device) {
  const fs::path place = folder / fmt::format("device_{}", device);
  fs::create_directories(place / "data");
  write(place / fmt::format("info.json.{}", device), info({device}));
}

fs::path make_folder(const Profiling& state, const CollectionRequest& request) {
  const trace::Moment begin = trace::both_clocks();
  const Time time{std::chrono::duration_cast<Time::duration>(std::chrono::nanoseconds(begin.people))};
  const fs::path folder = state.folder / folder_name(state.collections + 1, time);
  try {
    fs::create_directories(folder / "host/data");
    for (const int device : request.devices) make_device(folder, device);
  } catch (const fs::filesystem_error& error) {
    fail(Code::kInvalidParam, "{} could not be made ({}); give a folder that can be written to", folder.string(),
         error.code().message());
  }
  write(folder / "host/info.json", info(request.devices));
  if (!request.options.empty()) write(folder / "host/sample.json", request.options);
  write_everywhere(folder, request.devices, "start_info", moment("Begin", begin));
  return folder;
}

void end_collection(Profiling& state) {
  constexpr int64_t kWaitMs = 60'000;
  device::Fence::now().wait(kWaitMs);  // what was queued belongs to it
  state.recorder.reset();
  trace::stop();
  write_infos(state.collection, state.devices);
  write_everywhere(state.collection, state.devices, "end_info", moment("End", trace::both_clocks()));
}

}  // namespace

void open_profiling(std::string_view folder) {
  Profiling& state = profiling();
  const std::lock_guard lock(state.mutex);
  if (state.open)
    fail(Code::kRepeatInitialize, "profiling is open already, below {}; call aclprofFinalize first",
         state.folder.string());
  std::error_code error;
  const fs::path path = fs::absolute(fs::path(folder), error);
  if (folder.empty() || !fs::is_directory(path, error))
    fail(Code::kInvalidParam, "'{}' is no folder; make it first", folder);
  if (access(path.c_str(), W_OK | X_OK) != 0)
    fail(Code::kInvalidParam, "{} cannot be written to; give another folder", path.string());
  state.folder = path;
  state.collections = 0;
  state.open = true;
}

void start_collection(const CollectionRequest& request) {
  Profiling& state = profiling();
  const std::lock_guard lock(state.mutex);
  if (!state.open) fail(Code::kUninitialized, "profiling is not open; call aclprofInit first");
  if (state.recorder)
    fail(Code::kProfAlreadyRun, "a collection runs, in {}; call aclprofStop first", state.collection.string());
  const fs::path folder = make_folder(state, request);
  const auto wanted = [&](uint64_t kind) { return (request.kinds & kind) != 0; };
  trace::start(folder.string(), {wanted(kCollectCalls), wanted(kCollectMarks)}, [](const std::string& error) {
    tell_once("profiling has ended, records could not be written: " + error + "; the computation goes on");
  });
  trace::tell_groups();
  state.collection = folder;
  ++state.collections;
  state.devices = request.devices;
  state.recorder = std::make_unique<TaskLease>(wanted(kCollectShapes));
}

void stop_collection() {
  Profiling& state = profiling();
  const std::lock_guard lock(state.mutex);
  if (!state.recorder) fail(Code::kProfNotRun, "no collection runs; call aclprofStart first");
  end_collection(state);
}

void close_profiling() {
  Profiling& state = profiling();
  const std::lock_guard lock(state.mutex);
  if (!state.open) fail(Code::kRepeatFinalize, "profiling is not open; aclprofFinalize follows aclprofInit");
  if (state.recorder) end_collection(state);
  state.open = false;
}

void end_profiling() {
  Profiling& state = profiling();
  const std::lock_guard lock(state.mutex);
  if (state.recorder) end_collection(state);
}

bool is_collecting() {
  const std::lock_guard lock(profiling().mutex);
  return profiling().recorder != nullptr;
}

bool join_collection(int device) {
  Profiling& state = profiling();
  const std::lock_guard lock(state.mutex);
  if (!state.recorder) return false;
  if (std::ranges::find(state.devices, device) != state.devices.end()) return true;
  make_device(state.collection, device);
  fs::copy_file(state.collection / "host/start_info",
                state.collection / fmt::format("device_{0}/start_info.{0}", device));
  state.devices.push_back(device);
  write(state.collection / "host/info.json", info(state.devices));
  return true;
}

std::string collection_folder() {
  Profiling& state = profiling();
  const std::lock_guard lock(state.mutex);
  return state.collection.string();
}

}  // namespace npu::acl
