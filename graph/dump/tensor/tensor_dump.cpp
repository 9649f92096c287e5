// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/tensor_dump.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "device/queue/progress.h"
#include "graph/dump/record/data_type.h"
#include "graph/dump/record/dump_data.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/format.h"
#include "graph/dump/record/mapping.h"
#include "graph/dump/tensor/file_writer.h"
#include "graph/dump/tensor/statistics.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kExitWaitMs = 10'000;

/// Microseconds since 1970, each number given once: files of one task differ by it.
uint64_t unique_now() {
  static std::atomic<uint64_t> last{0};
  const auto now = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  uint64_t before = last.load();
  uint64_t next = std::max(now, before + 1);
  while (!last.compare_exchange_weak(before, next)) next = std::max(now, before + 1);
  return next;
}

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

Blob bytes_copied(const Tensor& tensor) {
  Blob blob(static_cast<size_t>(bytes_of(tensor)));
  if (blob.size == 0) return blob;
  if (tensor.contiguous()) {
    std::memcpy(blob.bytes.get(), tensor.bytes(), blob.size);
    return blob;
  }
  const Tensor copy = make_tensor(blob.bytes.get(), tensor.dtype, tensor.shape);
  ops::Call("copy").set("self", ops::Operand{tensor, {}}).set("out", copy).run();
  return blob;
}

record::DumpTensor described(const Tensor& tensor) {
  record::DumpTensor out;
  out.data_type = record::data_type_of(tensor.dtype);
  out.format = record::kNd;
  out.shape.assign(tensor.shape.begin(), tensor.shape.end());
  out.original_shape = out.shape;
  out.size = static_cast<uint64_t>(bytes_of(tensor));
  out.address = reinterpret_cast<uint64_t>(tensor.bytes());
  return out;
}

/// "2x3x4".
std::string shape_text(const Dims& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

std::string statistics_line(const char* side, size_t index, const Tensor& tensor) {
  const record::DataType& type = record::data_type(record::data_type_of(tensor.dtype));
  const std::string what = fmt::format("{},{},{},{},ND,{},{}", side, index, bytes_of(tensor), type.name,
                                       shape_text(tensor.shape), tensor.count());
  if (!has_statistics(tensor.dtype)) return what + ",N/A,N/A,N/A,N/A,N/A,N/A,N/A\n";
  const Statistics s = statistics_of(tensor);
  return fmt::format("{},{},{},{},{},{},{},{}\n", what, s.most, s.least, s.mean, s.l2norm, s.nans,
                     s.negative_infinities, s.positive_infinities);
}

constexpr std::string_view kStatisticsHead =
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,Min Value,Avg Value,l2norm,Nan Count,"
    "Negative Inf Count,Positive Inf Count\n";

/// aclnnAdd is the name of a call, and Add its type.
std::string type_of(const ops::Execution& execution) {
  const std::string& type = execution.name.type;
  return execution.graph.empty() && type.starts_with("aclnn") ? type.substr(5) : type;
}

class TensorDump final : public ops::Observer {
 public:
  TensorDump(DumpConfig config, std::string folder, std::function<void(const std::string&)> tell)
      : config_(std::move(config)), folder_(std::move(folder)), writer_([this, tell = std::move(tell)](const auto& e) {
          tell(
              fmt::format("the dump has ended, a file could not be written: {}; what was written before is whole, and "
                          "the computation goes on",
                          e));
        }) {}

  std::unique_ptr<ops::Watch> start(const ops::Execution& execution) override;
  const std::string& folder() const { return folder_; }
  const DumpConfig& config() const { return config_; }
  FileWriter& writer() { return writer_; }

  /// Where files of this task lie.
  std::string folder_of(const ops::Execution& execution) {
    if (execution.graph.empty()) return fmt::format("{}/{}", folder_, execution.device);
    const std::lock_guard lock(mutex_);
    const auto [graph, fresh] = graphs_.try_emplace({execution.device, execution.graph});
    if (fresh) graph->second.number = graphs_.size();
    int64_t index = execution.step;
    if (config_.steps.every())
      index = graph->second.steps.try_emplace(execution.step, static_cast<int64_t>(graph->second.steps.size()))
                  .first->second;
    return fmt::format("{}/{}/{}/{}/{}", folder_, execution.device, record::path_word(execution.graph),
                       graph->second.number, index);
  }

 private:
  struct Graph {
    size_t number = 0;
    std::map<int64_t, int64_t> steps;  ///< the index of each step that was dumped
  };
  const DumpConfig config_;
  const std::string folder_;
  std::mutex mutex_;
  std::map<std::pair<int, std::string>, Graph> graphs_;
  FileWriter writer_;
};

/// One task: what it reads is kept before it runs, what it writes afterwards.
class DumpedTask final : public ops::Watch {
 public:
  DumpedTask(TensorDump& dump, const ops::Execution& execution) : dump_(dump) {
    if (dump.config().inputs) keep("Input", execution.inputs, data_.inputs);
  }

  void finished(const ops::Execution& execution) override {
    if (dump_.config().outputs) keep("Output", execution.outputs, data_.outputs);
    for (size_t i = 0; i < data_.outputs.size(); ++i) {
      data_.outputs[i].original_op = {execution.name.node, static_cast<uint32_t>(i), data_.outputs[i].data_type,
                                      data_.outputs[i].format};
    }
    const uint64_t now = unique_now();
    record::DumpName name{
        type_of(execution), execution.name.node, execution.number, static_cast<uint64_t>(execution.stream), now, {}};
    FileContent content;
    content.folder = dump_.folder_of(execution);
    record::StoredName stored =
        record::stored_name(record::make_name(name) + (dump_.config().statistics ? ".csv" : ""));
    content.name = std::move(stored.file), content.listed = std::move(stored.line);
    if (dump_.config().statistics) {
      content.head = std::string(kStatisticsHead) + lines_;
    } else {
      data_.dump_time = now, data_.op_name = execution.name.node;
      content.head = record::encode_header(data_);
      content.blobs = std::move(blobs_);
    }
    dump_.writer().put(std::move(content));
  }

 private:
  void keep(const char* side, const std::vector<ops::Seen>& all, std::vector<record::DumpTensor>& to) {
    for (size_t i = 0; i < all.size(); ++i) {
      const Tensor& tensor = all[i].tensor;
      if (dump_.config().statistics) {
        lines_ += statistics_line(side, i, tensor);
        continue;
      }
      to.push_back(described(tensor));
      blobs_.push_back(bytes_copied(tensor));
    }
  }

  TensorDump& dump_;
  record::DumpData data_;
  std::vector<Blob> blobs_;
  std::string lines_;
};

std::unique_ptr<ops::Watch> TensorDump::start(const ops::Execution& execution) {
  if (writer_.failed() || !config_.wants(execution)) return nullptr;
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
  if (running().dump) fail(Code::kDumpAlreadyRun, "a dump to {} runs already; end it first", running().dump->folder());
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

bool dumping() { return running().on.load(std::memory_order_relaxed); }

std::string dump_folder() {
  const std::lock_guard lock(running().mutex);
  return running().dump ? running().dump->folder() : "";
}

}  // namespace npu::graph
