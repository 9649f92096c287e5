// SPDX-License-Identifier: Apache-2.0
#include "device/trace/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/trace/clock.h"
#include "device/trace/piece.h"
#include "device/trace/recording.h"
#include "device/trace/text.h"

namespace npu::device::trace {

namespace detail {
constinit std::atomic<bool> on{false};
constinit std::atomic<bool> calls{false};
}  // namespace detail

namespace {

constinit std::atomic<uint32_t> running{0};  // the number of the recording that runs, from 1; 0: none
constinit std::atomic<Listener*> listener{nullptr};
constinit std::atomic<uint32_t> last_call{0};
constinit std::atomic<bool> writes_calls{false}, writes_marks{false};  // of the recording that runs

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

/// With the lock held, or in a forked child, which has one thread.
void tell_threads() {
  const bool listens = listener.load() != nullptr;
  detail::on = listens || running != 0;
  detail::calls = listens || (running != 0 && writes_calls);
}

void end() {
  running = 0;
  tell_threads();
}

void end_in_child() {
  listener = nullptr;
  end();
}

void watch_forks() {
  static const int watched = pthread_atfork(nullptr, nullptr, end_in_child);
  static_cast<void>(watched);
}

/// `write` with the files of what runs, null for nothing, and with the lock. What cannot be written any more ends; the
/// computation goes on.
template <class F>
auto with_files(F&& write) -> decltype(write(state().recording.get())) {
  std::string error;
  std::function<void(const std::string&)> tell;
  {
    const std::lock_guard lock(state().mutex);
    try {
      return write(state().recording.get());
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

struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};

struct KeyHash {
  using is_transparent = void;
  size_t operator()(std::span<const uint64_t> key) const {
    uint64_t all = key.size();
    for (const uint64_t word : key) all = (all ^ word) * 0x9e3779b97f4a7c15u, all ^= all >> 32;
    return all;
  }
};
struct SameKey {
  using is_transparent = void;
  bool operator()(std::span<const uint64_t> a, std::span<const uint64_t> b) const { return std::ranges::equal(a, b); }
};

/// Texts that stay where they are, each at the place that its address gives; the last one met is there.
class Constants {
 public:
  struct Known {
    const char* text = nullptr;
    uint32_t number = 0;
  };
  Known& place_of(const char* text) {
    return all_[(reinterpret_cast<uintptr_t>(text) * 0x9e3779b97f4a7c15u) >> (64 - kBits)];
  }

 private:
  static constexpr int kBits = 9;
  std::array<Known, 1 << kBits> all_;
};

/// A thread keeps a piece for each kind, and for each device it works on; and the numbers of texts it has met.
struct Cursors {
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> numbers;
  std::unordered_map<std::vector<uint64_t>, Labels, KeyHash, SameKey> labels;
  Constants constants;

  std::array<Cursor, kDevices> tasks;
  Cursor calls, marks, memory, graphs, groups, links;

  Cursor& of(const TaskRecord& record) { return tasks[static_cast<size_t>(record.device)]; }
  Cursor& of(const CallRecord&) { return calls; }
  Cursor& of(const MarkRecord&) { return marks; }
  Cursor& of(const MemoryRecord&) { return memory; }
  Cursor& of(const GraphRecord&) { return graphs; }
  Cursor& of(const GroupRecord&) { return groups; }
  Cursor& of(const LinkRecord&) { return links; }
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
void write(const Record& record) {
  static_assert(kPieceBytes % sizeof(Record) == 0);
  const uint32_t recording = running.load(std::memory_order_relaxed);
  Cursors* const here = recording == 0 ? nullptr : cursors_here();
  if (here == nullptr) return;
  Cursor& cursor = here->of(record);
  if (cursor.running != recording || cursor.used == kPieceBytes) {
    Piece piece =
        with_files([&](Recording* files) { return files == nullptr ? nullptr : files->file_of(record).next(); });
    if (piece == nullptr) return;
    cursor = {recording, 0, std::move(piece)};
  }
  std::byte* at = cursor.piece.get() + cursor.used;
  cursor.used += sizeof(Record);
  // `end` says that a record is whole, so it comes last.
  Record open = record;
  open.end = 0;
  std::memcpy(at, &open, sizeof open);
  std::atomic_ref<int64_t>(reinterpret_cast<Record*>(at)->end).store(record.end, std::memory_order_release);
}

template <class Record>
void tell(const Record& record) {
  if (Listener* const who = listener.load(std::memory_order_acquire); who != nullptr) who->heard(record);
}

constinit thread_local TaskScope* current_task = nullptr;

constinit thread_local uint32_t current_call = 0;
constinit thread_local Owners owners{};

}  // namespace

int64_t now() { return read_clock(CLOCK_MONOTONIC_RAW); }

void start(const std::string& folder, Wanted wanted, std::function<void(const std::string&)> fail) {
  watch_forks();
  const std::lock_guard lock(state().mutex);
  state().recording = std::make_unique<Recording>(folder);
  writes_calls = wanted.calls, writes_marks = wanted.marks;
  state().fail = std::move(fail);
  running = ++state().last;
  tell_threads();
}

void stop() {
  const std::lock_guard lock(state().mutex);
  end();
  state().recording.reset();
  state().fail = nullptr;
}

void listen(Listener* who) {
  watch_forks();
  const std::lock_guard lock(state().mutex);
  listener = who;
  tell_threads();
}

Owners& owners_here() { return owners; }

uint32_t number_of(std::string_view text) {
  if (text.empty()) return 0;
  Cursors* const here = cursors_here();
  if (here != nullptr)
    if (const auto known = here->numbers.find(text); known != here->numbers.end()) return known->second;
  Text known;
  with_files([&](Recording* files) {
    known = number_of_text(text);
    if (known.is_new && files != nullptr) files->texts().add(text);  // in the order of the numbers
    return true;
  });
  if (here != nullptr) here->numbers.emplace(text, known.number);
  return known.number;
}

uint32_t number_of_constant(const char* text) {
  Cursors* const here = cursors_here();
  if (here == nullptr) return number_of(text);
  Constants::Known& known = here->constants.place_of(text);
  if (known.text != text) known = {text, number_of(text)};
  return known.number;
}

const Labels* known_labels(std::span<const uint64_t> key) {
  Cursors* const here = cursors_here();
  if (here == nullptr) return nullptr;
  const auto known = here->labels.find(key);
  return known == here->labels.end() ? nullptr : &known->second;
}

void keep_labels(std::span<const uint64_t> key, const Labels& labels) {
  if (Cursors* const here = cursors_here()) here->labels.emplace(std::vector<uint64_t>(key.begin(), key.end()), labels);
}

void add(const TaskRecord& record) {
  if (record.device >= 0 && std::cmp_less(record.device, kDevices)) write(record);
  tell(record);
}

void add(const CallRecord& record) {
  if (writes_calls.load(std::memory_order_relaxed)) write(record);
  tell(record);
}

void add(const MarkRecord& record) {
  if (writes_marks.load(std::memory_order_relaxed)) write(record);
  tell(record);
}

void add(const MemoryRecord& record) {
  write(record);
  tell(record);
}

void add(const GraphRecord& record) {
  write(record);
  tell(record);
}

void add(const GroupRecord& record) { write(record); }

void add(const LinkRecord& record) { write(record); }

void begin(const MarkRecord& record) {
  if (Listener* const who = listener.load(std::memory_order_acquire); who != nullptr) who->begun(record);
}

uint32_t thread_number() {
  thread_local const auto number = static_cast<uint32_t>(gettid());
  return number;
}

Launch launch_here() { return {now(), thread_number(), current_call}; }

TaskScope::TaskScope(const Launch& launch, bool at_once)
    : launch_(launch),
      at_once_(at_once && launch.time != 0),
      start_(at_once_ ? launch.time : now()),
      outer_(std::exchange(current_task, this)) {}

TaskScope::~TaskScope() { current_task = outer_; }

TaskScope* TaskScope::current() { return current_task; }

void TaskScope::finish(int device, int32_t stream, uint64_t number, const char* name) {
  if (told_ || !on()) return;
  TaskRecord record;
  record.start = start_, record.end = now();
  record.launched = launch_.time, record.launcher = launch_.thread, record.call = launch_.call;
  record.number = number, record.stream = stream, record.device = device;
  record.type = record.name = number_of(name);
  record.move = move_, record.bytes = bytes_;
  add(record);
}

void CallScope::begin() {
  number_ = ++last_call;
  outer_ = std::exchange(current_call, number_);
  if (Listener* const who = listener.load(std::memory_order_acquire); who != nullptr) {
    if (owners != Owners{}) who->entered(number_, owners);
    who->began(name_, level_, number_);
  }
  start_ = now();
}

void CallScope::enter(const Owners& prepared) const {
  if (Listener* const who = listener.load(std::memory_order_acquire); who != nullptr && owners == Owners{})
    who->entered(number_, prepared);
}

void CallScope::finish() const {
  current_call = outer_;
  if (!on()) return;
  add(CallRecord{start_, now(), thread_number(), number_of_constant(name_), level_, number_});
}

}  // namespace npu::device::trace
