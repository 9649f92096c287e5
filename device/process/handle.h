// SPDX-License-Identifier: Apache-2.0
// Handles that cannot crash: streams, events, contexts and physical memory cross the door as numbers that name a slot
// and its generation. A garbage, destroyed or wrong-kind handle is found out by one comparison and refused with a text.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/error.h"

namespace npu::device {

enum class HandleKind : uint8_t {
  kContext = 0x51,
  kStream = 0x52,
  kEvent = 0x53,
  kPhysical = 0x54,
  kGraph = 0x55,
  kTaskGroup = 0x56
};

/// Raises 107017: says whether `handle` is null, of another kind, destroyed, or never was one.
[[noreturn]] void refuse_handle(HandleKind wanted, const void* handle);

/// Objects of one kind, found by handle. Objects are recycled, never deleted, so a racing use of a dying handle touches
/// valid memory. T is default-constructible; whoever takes a recycled one re-initialises it.
/// A handle is kind (8 bits) | generation (28) | slot (22) | six zero bits, so it looks aligned like a pointer.
template <class T, HandleKind kind>
class HandleTable {
 public:
  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  /// Tables of the process are never destroyed; this is for tests.
  ~HandleTable() {
    for (const auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }

  /// Takes a free object, lets `prepare(T&, void* handle)` set it up, then publishes it.
  template <class F>
  void* create(F&& prepare) {
    std::lock_guard lock(mutex_);
    const uint32_t index = take_slot();
    Slot& slot = *at(index);
    const uint64_t generation = ++slot.generation & kGenerationMask;
    const uint64_t handle = uint64_t{static_cast<uint8_t>(kind)} << 56 | generation << 28 | uint64_t{index} << 6;
    prepare(slot.value, reinterpret_cast<void*>(handle));
    slot.handle.store(handle, std::memory_order_release);
    return reinterpret_cast<void*>(handle);
  }

  /// The live object of `handle`, else null.
  T* find(const void* handle) const {
    const auto value = reinterpret_cast<uint64_t>(handle);
    Slot* slot = at(static_cast<uint32_t>(value >> 6) & kIndexMask);
    return slot != nullptr && value != 0 && slot->handle.load(std::memory_order_acquire) == value ? &slot->value
                                                                                                  : nullptr;
  }
  /// The live object of `handle`; raises 107017 with a text.
  T& get(const void* handle) const {
    if (T* object = find(handle)) [[likely]]
      return *object;
    refuse_handle(kind, handle);
  }

  /// Ends the handle (later lookups fail) and returns its object, null when it was not live. The object stays the
  /// caller's until `recycle`.
  T* retire(const void* handle) {
    const auto value = reinterpret_cast<uint64_t>(handle);
    T* object = find(handle);
    if (object == nullptr) return nullptr;
    uint64_t expected = value;
    return at(index_of(value))->handle.compare_exchange_strong(expected, 0) ? object : nullptr;
  }
  /// Makes the object of a retired handle available again.
  void recycle(const void* handle) {
    std::lock_guard lock(mutex_);
    free_.push_back(index_of(reinterpret_cast<uint64_t>(handle)));
  }

  /// Calls `f(handle, object)` for each live object. `f` must not create objects of this kind.
  template <class F>
  void for_each(F&& f) const {
    const uint32_t count = count_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) {
      Slot* slot = at(i);
      if (const uint64_t handle = slot->handle.load(std::memory_order_acquire)) {
        f(reinterpret_cast<void*>(handle), slot->value);
      }
    }
  }

 private:
  static constexpr uint32_t kIndexMask = (1u << 22) - 1;
  static constexpr uint64_t kGenerationMask = (1u << 28) - 1;
  static constexpr uint32_t kChunk = 256;

  struct Slot {
    std::atomic<uint64_t> handle{0};
    uint64_t generation = 0;
    T value;
  };

  static uint32_t index_of(uint64_t handle) { return static_cast<uint32_t>(handle >> 6) & kIndexMask; }
  Slot* at(uint32_t index) const {
    Slot* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + index % kChunk;
  }
  // Oldest free slot first, so that a stale handle meets a dead slot for as long as possible.
  uint32_t take_slot() {
    if (free_.size() > 64 || (count_.load(std::memory_order_relaxed) > kIndexMask && !free_.empty())) {
      const uint32_t index = free_.front();
      free_.pop_front();
      return index;
    }
    const uint32_t index = count_.load(std::memory_order_relaxed);
    if (index > kIndexMask) fail(Code::kOverLimit, "more than {} live handles of one kind; destroy some", kIndexMask);
    auto& chunk = chunks_[index / kChunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr) chunk.store(new Slot[kChunk], std::memory_order_release);
    count_.store(index + 1, std::memory_order_release);
    return index;
  }

  mutable std::mutex mutex_;
  std::deque<uint32_t> free_;
  std::atomic<uint32_t> count_{0};
  std::array<std::atomic<Slot*>, (kIndexMask + 1) / kChunk> chunks_{};
};

}  // namespace npu::device
