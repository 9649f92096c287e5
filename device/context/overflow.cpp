// SPDX-License-Identifier: Apache-2.0
#include "device/context/overflow.h"

#include <array>
#include <atomic>
#include <deque>
#include <mutex>

#include "base/log.h"
#include "device/process/soc.h"

namespace npu::device {
namespace {

struct Word {
  std::atomic<uint32_t> value{0};
  std::atomic<int64_t> cleared{0};
  std::atomic<bool> blind{false};
};

struct Memory {
  std::mutex mutex;
  std::array<std::deque<Overflow>, kMaxDevices> told;
  std::function<void(const Overflow&)> watch;
};

constinit std::array<Word, kMaxDevices> words{};

Memory& memory() {
  static Memory& never_destroyed = *new Memory;
  return never_destroyed;
}

Word& word_of(int device) {
  check_device(device);
  return words[static_cast<size_t>(device)];
}

}  // namespace

uint32_t overflow_word(int device) { return word_of(device).value.load(std::memory_order_acquire); }

bool raise_overflow(int device) {
  Word& word = word_of(device);
  return !word.blind.load(std::memory_order_relaxed) && word.value.exchange(1, std::memory_order_acq_rel) == 0;
}

void clear_overflow(int device) {
  Word& word = word_of(device);
  word.value.store(0, std::memory_order_release);
  word.cleared.fetch_add(1, std::memory_order_relaxed);
}

void detect_overflows(int device, bool on) { word_of(device).blind.store(!on, std::memory_order_relaxed); }

bool detects_overflows(int device) { return !word_of(device).blind.load(std::memory_order_relaxed); }

int64_t overflow_step(int device) { return word_of(device).cleared.load(std::memory_order_relaxed); }

std::string to_string(const Overflow& o) {
  const std::string where = o.function.empty() ? "" : " of " + o.function;
  return fmt::format(
      "{} node '{}'{} overflowed in step {}: output {} {}[{}], {} infinities, {} NaN, {} of {} elements saturated, "
      "finite ones in [{:g}, {:g}]",
      o.type, o.node, where, o.step, o.output, name_of(o.dtype), fmt::join(o.shape.begin(), o.shape.end(), "x"),
      o.infinities, o.nans, o.saturated, count_of(o.shape), o.least, o.most);
}

void tell_overflow(const Overflow& overflow) {
  check_device(overflow.device);
  std::function<void(const Overflow&)> watch;
  {
    Memory& all = memory();
    const std::lock_guard lock(all.mutex);
    auto& told = all.told[static_cast<size_t>(overflow.device)];
    told.push_back(overflow);
    if (told.size() > kMostOverflows) told.pop_front();
    watch = all.watch;
  }
  if (watch) return watch(overflow);
  NPU_LOG(kWarning, "RUNTIME", "device {}: {}", overflow.device, to_string(overflow));
}

std::vector<Overflow> overflows(int device) {
  check_device(device);
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto& told = all.told[static_cast<size_t>(device)];
  return {told.begin(), told.end()};
}

void watch_overflows(std::function<void(const Overflow&)> watch) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  all.watch = std::move(watch);
}

}  // namespace npu::device
