// SPDX-License-Identifier: Apache-2.0
#include "device/trace/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "device/trace/piece.h"

namespace npu::device::trace {

namespace detail {
constinit std::atomic<uint32_t> running{0};
constinit std::atomic<bool> calls{false};
}  // namespace detail

namespace {

namespace fs = std::filesystem;

struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};

/// The numbers of texts, and the file that says what they stand for.
class Texts {
 public:
  explicit Texts(const fs::path& path)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640)) {
    if (file_ < 0) refuse();
  }
  ~Texts() { close(file_); }
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;

  uint32_t number_of(std::string_view text) {
    if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    write(text);
    return numbers_.emplace(text, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
  }

 private:
  void write(std::string_view text) {
    const auto length = static_cast<uint32_t>(text.size());
    std::string entry(sizeof length + text.size(), '\0');
    std::memcpy(entry.data(), &length, sizeof length);
    text.copy(entry.data() + sizeof length, text.size());
    for (size_t done = 0; done < entry.size();) {
      const ssize_t written = ::write(file_, entry.data() + done, entry.size() - done);
      if (written < 0 && errno != EINTR) refuse();
      done += static_cast<size_t>(std::max<ssize_t>(written, 0));
    }
  }
  [[noreturn]] void refuse() const { fail(Code::kRtInternal, "{}: {}", path_.string(), std::strerror(errno)); }

  const fs::path path_;
  const int file_;
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> numbers_;
};

/// Where one recording is written.
struct Recording {
  explicit Recording(const std::string& place)
      : folder(place), texts(folder / "host/data" / kTextFile), calls(folder / "host/data" / kCallFile) {}

  PieceFile& tasks_of(int device) {
    std::unique_ptr<PieceFile>& file = tasks[device];
    if (!file) {
      const fs::path data = folder / fmt::format("device_{}", device) / "data";
      fs::create_directories(data);
      file = std::make_unique<PieceFile>(data / kTaskFile);
    }
    return *file;
  }

  const fs::path folder;
  Texts texts;
  PieceFile calls;
  std::map<int, std::unique_ptr<PieceFile>> tasks;
};

struct State {
  std::mutex mutex;
  std::unique_ptr<Recording> recording;
  std::function<void(const std::string&)> fail;
  uint32_t last = 0;
};

// Never destroyed: streams may run tasks until the process is gone.
State& state() {
  static State& instance = *new State;
  return instance;
}

void end() {
  detail::calls = false;
  detail::running = 0;
}

/// Ends what cannot be written any more; the computation goes on.
template <class F>
auto or_end(F&& write) -> decltype(write(*state().recording)) {
  std::string error;
  std::function<void(const std::string&)> tell;
  {
    const std::lock_guard lock(state().mutex);
    if (state().recording == nullptr) return {};
    try {
      return write(*state().recording);
    } catch (const std::exception& e) {
      error = e.what();
      end();
      state().recording.reset();
      tell = std::exchange(state().fail, nullptr);
    }
  }
  if (tell) tell(error);
  return {};
}

/// Where a thread writes records of one kind, of one device.
struct Cursor {
  uint32_t running = 0;
  size_t used = 0;
  Piece piece;
};

constexpr size_t kDevices = 64;

/// A thread keeps a piece for each kind, and for each device it works on.
struct Cursors {
  std::array<Cursor, kDevices> tasks;
  Cursor calls;
};
constinit thread_local Cursors* cursors = nullptr;
constinit thread_local bool thread_ends = false;  // tasks run on in exit hooks, after this thread's objects are gone

Cursors* cursors_here() {
  struct End {
    ~End() {
      thread_ends = true;
      delete std::exchange(cursors, nullptr);
    }
  };
  if (thread_ends) return nullptr;
  if (cursors == nullptr) {
    thread_local const End end;
    static_cast<void>(end);
    cursors = new Cursors;
  }
  return cursors;
}

template <class Record>
void write(Cursor& cursor, const Record& record, PieceFile& (*file)(Recording&, const Record&)) {
  static_assert(kPieceBytes % sizeof(Record) == 0);
  const uint32_t running = detail::running.load(std::memory_order_relaxed);
  if (running == 0) return;
  if (cursor.running != running || cursor.used == kPieceBytes) {
    Piece piece = or_end([&](Recording& recording) { return file(recording, record).next(); });
    if (piece == nullptr) return;
    cursor = {running, 0, std::move(piece)};
  }
  std::byte* at = cursor.piece.get() + cursor.used;
  cursor.used += sizeof(Record);
  // `end` says that a record is whole, so it comes last.
  Record open = record;
  open.end = 0;
  std::memcpy(at, &open, sizeof open);
  std::atomic_ref<int64_t>(reinterpret_cast<Record*>(at)->end).store(record.end, std::memory_order_release);
}

constinit thread_local TaskScope* current_task = nullptr;

uint32_t thread_number() {
  thread_local const auto number = static_cast<uint32_t>(gettid());
  return number;
}

}  // namespace

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void start(const std::string& folder, bool calls, std::function<void(const std::string&)> fail) {
  static const int watched = pthread_atfork(nullptr, nullptr, end);
  static_cast<void>(watched);
  auto recording = std::make_unique<Recording>(folder);
  const std::lock_guard lock(state().mutex);
  state().recording = std::move(recording);
  state().fail = std::move(fail);
  detail::running = ++state().last;
  detail::calls = calls;
}

void stop() {
  end();
  const std::lock_guard lock(state().mutex);
  state().recording.reset();
  state().fail = nullptr;
}

uint32_t number_of(std::string_view text) {
  if (text.empty()) return 0;
  return or_end([&](Recording& recording) { return recording.texts.number_of(text); });
}

void add(const TaskRecord& record) {
  Cursors* const here = cursors_here();
  if (here == nullptr || record.device < 0 || std::cmp_greater_equal(record.device, kDevices)) return;
  write(
      here->tasks[static_cast<size_t>(record.device)], record,
      +[](Recording& recording, const TaskRecord& one) -> PieceFile& { return recording.tasks_of(one.device); });
}

void add(const CallRecord& record) {
  Cursors* const here = cursors_here();
  if (here == nullptr) return;
  write(here->calls, record, +[](Recording& recording, const CallRecord&) -> PieceFile& { return recording.calls; });
}

Launch launch_here() { return {now(), thread_number()}; }

TaskScope::TaskScope(const Launch& launch)
    : launch_(launch), start_(now()), outer_(std::exchange(current_task, this)) {}

TaskScope::~TaskScope() { current_task = outer_; }

TaskScope* TaskScope::current() { return current_task; }

void TaskScope::finish(int device, int32_t stream, uint64_t number, const char* name) {
  if (told_ || !on()) return;
  TaskRecord record;
  record.start = start_, record.end = now();
  record.launched = launch_.time, record.launcher = launch_.thread;
  record.number = number, record.stream = stream, record.device = device;
  record.type = record.name = number_of(name);
  add(record);
}

void CallScope::finish() const {
  if (!on()) return;
  add(CallRecord{start_, now(), thread_number(), number_of(name_), level_, 0});
}

}  // namespace npu::device::trace
