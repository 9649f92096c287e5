// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/tensor_dump.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "device/queue/progress.h"
#include "graph/dump/tensor/dump_folders.h"
#include "graph/dump/tensor/file_writer.h"
#include "graph/dump/tensor/overflow_dump.h"
#include "graph/dump/tensor/task_content.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kExitWaitMs = 10'000;

/// A new folder named after the second, in local time; of processes that ask in one second each gets another second.
std::string make_time_folder(const std::string& path) {
  std::time_t second = std::time(nullptr);
  for (int tries = 0; tries < 3600; ++tries, ++second) {
    std::tm local{};
    localtime_r(&second, &local);
    char name[16];
    std::strftime(name, sizeof name, "%Y%m%d%H%M%S", &local);
    const std::string folder = (fs::path(path) / name).string();
    if (mkdir(folder.c_str(), 0750) == 0) return folder;
    if (errno != EEXIST)
      fail(Code::kInvalidDumpConfig, "dump_path {}: {}; choose a folder that is there and can be written", path,
           std::strerror(errno));
  }
  fail(Code::kInvalidDumpConfig, "dump_path {} has a folder for every second of the next hour; choose another", path);
}

std::string told_of(const std::string& error) {
  return fmt::format(
      "the dump has ended, a file could not be written: {}; what was written before is whole, and the "
      "computation goes on",
      error);
}

class TensorDump final : public ops::Observer {
 public:
  TensorDump(DumpConfig config, std::string folder, std::function<void(const std::string&)> tell)
      : config_(std::move(config)),
        folders_(std::move(folder), !config_.steps.every()),
        writer_([tell = std::move(tell)](const auto& error) { tell(told_of(error)); }),
        overflows_(config_.overflows, folders_, writer_) {}

  std::unique_ptr<ops::Watch> start(const ops::Execution& execution) override;
  const DumpConfig& config() const { return config_; }
  DumpFolders& folders() { return folders_; }
  FileWriter& writer() { return writer_; }

 private:
  const DumpConfig config_;
  DumpFolders folders_;
  FileWriter writer_;
  OverflowDump overflows_;
};

/// One task: what it reads is kept before it runs, what it writes afterwards.
class DumpedTask final : public ops::Watch {
 public:
  DumpedTask(TensorDump& dump, const ops::Execution& execution) : dump_(dump), content_(dump.config().statistics) {
    if (dump.config().inputs) content_.keep_inputs(execution);
  }
  void finished(const ops::Execution& execution) override {
    if (dump_.config().outputs) content_.keep_outputs(execution);
    dump_.writer().put(content_.file(execution, dump_.folders().of(execution).folder, unique_now()));
  }

 private:
  TensorDump& dump_;
  TaskContent content_;
};

std::unique_ptr<ops::Watch> TensorDump::start(const ops::Execution& execution) {
  if (writer_.failed() || !config_.wants(execution)) return nullptr;
  if (config_.overflows != Overflows::kNone) return overflows_.start(execution);
  const bool nothing = (!config_.inputs || execution.inputs.empty()) && (!config_.outputs || execution.outputs.empty());
  return nothing ? nullptr : std::make_unique<DumpedTask>(*this, execution);
}

struct Running {
  std::mutex mutex;
  std::shared_ptr<TensorDump> dump;
  std::atomic<bool> on = false;
};

// Never destroyed: streams may run tasks until the process is gone.
Running& running() {
  static Running& instance = *new Running;
  return instance;
}

pid_t owner = 0;  // whose threads write

void end_at_exit() {
  // A forked child has no thread that would write, and no part in the parent's dump.
  if (owner != getpid()) return;
  // What is queued belongs to the dump; a stream that hangs must not keep the process.
  device::Fence::now().wait(kExitWaitMs);
  stop_dump();
}

}  // namespace

void start_dump(DumpConfig config, std::function<void(const std::string& text)> tell) {
  const std::lock_guard lock(running().mutex);
  if (running().dump)
    fail(Code::kDumpAlreadyRun, "a dump to {} runs already; end it first", running().dump->folders().root());
  if (!fs::is_directory(config.path))
    fail(Code::kInvalidDumpConfig, "dump_path {} is no folder; make it first", config.path);
  std::string folder = make_time_folder(config.path);
  [[maybe_unused]] static const int hooked = std::atexit(end_at_exit);
  owner = getpid();
  running().dump = std::make_shared<TensorDump>(std::move(config), std::move(folder), std::move(tell));
  ops::add_observer(running().dump);
  running().on = true;
}

bool stop_dump() {
  std::shared_ptr<TensorDump> dump;
  {
    const std::lock_guard lock(running().mutex);
    dump = std::move(running().dump);
    running().on = false;
  }
  if (!dump) return false;
  ops::remove_observer(*dump);
  dump->writer().drain();
  return true;
}

void flush_dump() {
  std::shared_ptr<TensorDump> dump;
  {
    const std::lock_guard lock(running().mutex);
    dump = running().dump;
  }
  if (dump) dump->writer().drain();
}

bool dumping() { return running().on.load(std::memory_order_relaxed); }

std::string dump_folder() {
  const std::lock_guard lock(running().mutex);
  return running().dump ? running().dump->folders().root() : "";
}

}  // namespace npu::graph
