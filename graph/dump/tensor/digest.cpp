// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/digest.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/thread_pool.h"
#include "device/queue/progress.h"
#include "graph/dump/tensor/task_content.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kExitWaitMs = 10'000;
constexpr size_t kPart = size_t{1} << 20;   // bytes of a thread's share
constexpr size_t kPiece = size_t{1} << 18;  // bytes that are written at a time
constexpr int kMostFiles = 10'000;

/// One to one in each argument while the other stays: a word that differs cannot be lost.
uint64_t mixed(uint64_t state, uint64_t word) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  return std::rotl((state ^ word) * kOdd, 29);
}

uint64_t word_at(const std::byte* at, size_t bytes = 8) {
  uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  return word;
}

/// Four chains of words beside each other, which a core computes at once.
uint64_t digest_of_bytes(const std::byte* at, size_t size) {
  std::array<uint64_t, 4> chains{1, 2, 3, 4};
  size_t i = 0;
  for (; i + 32 <= size; i += 32)
    for (size_t chain = 0; chain < 4; ++chain) chains[chain] = mixed(chains[chain], word_at(at + i + 8 * chain));
  for (; i < size; i += 8) chains[0] = mixed(chains[0], word_at(at + i, std::min<size_t>(8, size - i)));
  uint64_t all = size;
  for (const uint64_t chain : chains) all = mixed(all, chain);
  return mixed(all, 0);
}

uint64_t digest_of_text(uint64_t state, std::string_view text) {
  return mixed(state, digest_of_bytes(reinterpret_cast<const std::byte*>(text.data()), text.size()));
}

uint64_t digest_of_parameters(ops::Operator* op) {
  if (op == nullptr) return 0;
  uint64_t all = 0;
  for (const auto& [name, value] : ops::parameters_of(*op)) all = digest_of_text(digest_of_text(all, name), value);
  return all;
}

std::vector<uint64_t> digests_of(const std::vector<ops::Seen>& seen) {
  std::vector<uint64_t> all;
  for (const ops::Seen& one : seen) all.push_back(digest_of(one.tensor));
  return all;
}

/// The file, which is made with its first piece.
class Output {
 public:
  explicit Output(const std::string& file) : wanted_(file) {}
  ~Output() {
    if (file_ >= 0) close(file_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Why it could not be written, or nothing.
  std::string write(std::string_view bytes) {
    if (file_ < 0 && !open()) return fmt::format("{}: {}", wanted_.string(), std::strerror(errno));
    while (!bytes.empty()) {
      const ssize_t done = ::write(file_, bytes.data(), bytes.size());
      if (done < 0 && errno != EINTR) return fmt::format("{}: {}", wanted_.string(), std::strerror(errno));
      bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(done, 0)));
    }
    return "";
  }

 private:
  bool open() {
    for (int number = 1; number < kMostFiles; ++number) {
      fs::path path = wanted_;
      if (number > 1)
        path.replace_filename(fmt::format("{}.{}{}", wanted_.stem().string(), number, wanted_.extension().string()));
      file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
      if (file_ >= 0 || errno != EEXIST) break;
    }
    return file_ >= 0;
  }

  const fs::path wanted_;
  int file_ = -1;
};

class Digests final : public ops::Observer {
 public:
  explicit Digests(DigestRequest request) : request_(std::move(request)), output_(request_.file) {}

  std::unique_ptr<ops::Watch> start(const ops::Execution& execution) override {
    return std::make_unique<Task>(*this, execution);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (tasks_ == 0) return;
    encoder_.end();
    write();
  }

 private:
  class Task final : public ops::Watch {
   public:
    /// What it reads is looked at before it runs: it may write there.
    Task(Digests& digests, const ops::Execution& execution)
        : digests_(digests), inputs_(digests_of(execution.inputs)), parameters_(digest_of_parameters(execution.op)) {}
    void finished(const ops::Execution& execution) override {
      digests_.add({execution.name.type,
                    execution.name.node,
                    {execution.device, execution.stream, execution.graph},
                    execution.step,
                    parameters_,
                    std::move(inputs_),
                    digests_of(execution.outputs)});
    }

   private:
    Digests& digests_;
    std::vector<uint64_t> inputs_;
    const uint64_t parameters_;
  };

  void add(const record::DigestedTask& task) {
    if (is_asked_for(task)) request_.tell(std::string(task.type));
  }

  /// Writes it down, too.
  bool is_asked_for(const record::DigestedTask& task) {
    const std::lock_guard lock(mutex_);
    ++tasks_;
    if (!failed_) {
      encoder_.add(task);
      if (encoder_.size() >= kPiece) write();
    }
    return request_.place && request_.place->lane() == task.lane && ordinal_++ == request_.place->ordinal;
  }

  void write() {
    if (failed_) return;
    const std::string error = output_.write(encoder_.take());
    failed_ = !error.empty();
    if (failed_ && request_.fail)
      request_.fail("digests have ended, the file could not be written: " + error + "; the computation goes on");
  }

  const DigestRequest request_;
  std::mutex mutex_;
  Output output_;
  record::DigestEncoder encoder_;
  uint64_t tasks_ = 0, ordinal_ = 0;
  bool failed_ = false;
};

struct Running {
  std::mutex mutex;
  std::shared_ptr<Digests> digests;
};

// Never destroyed: streams may run tasks until the process is gone.
Running& running() {
  static Running& instance = *new Running;
  return instance;
}

pid_t owner = 0;  // a forked child has no part in them

void end_at_exit() {
  if (owner != getpid()) return;
  // What is queued belongs to the run; a stream that hangs must not keep the process.
  device::Fence::now().wait(kExitWaitMs);
  stop_digests();
}

void check_folder(const std::string& file) {
  const std::string folder = fs::absolute(file).parent_path().string();
  if (!fs::is_directory(folder)) fail(Code::kInvalidFile, "{} is no folder for {}; make it first", folder, file);
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    fail(Code::kInvalidFile, "{}: {}; choose a folder that can be written for {}", folder, std::strerror(errno), file);
}

}  // namespace

uint64_t digest_of(const Tensor& tensor) {
  uint64_t all = mixed(static_cast<uint64_t>(tensor.dtype), tensor.shape.size());
  for (const int64_t size : tensor.shape) all = mixed(all, static_cast<uint64_t>(size));
  const auto size = static_cast<size_t>(bytes_of(tensor));
  if (size == 0) return all;
  const Blob copy = tensor.contiguous() ? Blob() : bytes_copied(tensor);
  const std::byte* const bytes = copy.bytes ? copy.bytes.get() : tensor.bytes();
  std::vector<uint64_t> parts((size + kPart - 1) / kPart);
  parallel_parts(static_cast<int64_t>(parts.size()), [&](int64_t part) {
    const size_t begin = static_cast<size_t>(part) * kPart;
    parts[static_cast<size_t>(part)] = digest_of_bytes(bytes + begin, std::min(kPart, size - begin));
  });
  for (const uint64_t part : parts) all = mixed(all, part);
  return mixed(all, 0);
}

void start_digests(DigestRequest request) {
  check_folder(request.file);
  const std::lock_guard lock(running().mutex);
  if (running().digests) fail(Code::kDumpAlreadyRun, "digests are written already; end that first");
  [[maybe_unused]] static const int hooked = std::atexit(end_at_exit);
  owner = getpid();
  running().digests = std::make_shared<Digests>(std::move(request));
  ops::add_observer(running().digests);
}

bool stop_digests() {
  std::shared_ptr<Digests> digests;
  {
    const std::lock_guard lock(running().mutex);
    digests = std::move(running().digests);
    running().digests = nullptr;
  }
  if (!digests) return false;
  ops::remove_observer(*digests);
  digests->end();
  return true;
}

}  // namespace npu::graph
