// SPDX-License-Identifier: Apache-2.0
// Memory for the small objects that cross the interface. Slots of one type lie in one reserved range that is never
// given back, so any pointer a client hands in can be judged (live, destroyed, foreign) without touching wild memory,
// and a create/destroy pair costs no malloc: each thread keeps a few free slots.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"

namespace npu::acl {

template <class T, size_t kCapacity>
class Pool {
 public:
  /// A new T. Raises 561101 when kCapacity of them are alive.
  template <class... Args>
  static T* create(Args&&... args) {
    Slot* slot = take();
    T* object;
    try {
      object = new (slot->storage) T{std::forward<Args>(args)...};
    } catch (...) {
      give(slot);
      throw;
    }
    // Only now: until it is complete, nobody may find it.
    slot->live.store(true, std::memory_order_release);
    return object;
  }

  /// True for an object made by create() and not destroyed.
  static bool owns(const void* pointer) {
    // Below the range the difference wraps around to a large number, so one comparison catches both ends.
    const size_t at = static_cast<size_t>(static_cast<const std::byte*>(pointer) - base());
    return at < sizeof(Slot) * kCapacity && at % sizeof(Slot) == kStorageOffset &&
           slot_of(pointer)->live.load(std::memory_order_acquire);
  }

  /// Destroys the object. False (and nothing done) when it is not alive; of two racing calls one gets true.
  static bool destroy(const void* pointer) {
    if (!owns(pointer)) return false;
    Slot* slot = slot_of(pointer);
    // The exchange decides between two threads that destroy one object.
    if (!slot->live.exchange(false, std::memory_order_acq_rel)) return false;
    std::launder(reinterpret_cast<T*>(slot->storage))->~T();
    give(slot);
    return true;
  }

  /// Destroys the object and returns what it held. Of two racing calls one gets it, the other nothing.
  static std::optional<T> take_out(const void* pointer) {
    if (!owns(pointer)) return std::nullopt;
    Slot* slot = slot_of(pointer);
    if (!slot->live.exchange(false, std::memory_order_acq_rel)) return std::nullopt;
    T* object = std::launder(reinterpret_cast<T*>(slot->storage));
    std::optional<T> out(std::move(*object));
    object->~T();
    give(slot);
    return out;
  }

  /// Live objects, for tests.
  static size_t live_count() {
    size_t count = 0;
    const size_t used = std::min(shared().fresh.load(), kCapacity);
    for (size_t i = 0; i < used; ++i) count += shared().slots[i].live.load();
    return count;
  }

 private:
  struct Slot {
    // The object first: its address is the slot's, so a pointer finds its slot without a search.
    alignas(T) std::byte storage[sizeof(T)];
    std::atomic<bool> live;
  };
  static constexpr size_t kStorageOffset = 0;
  // What a thread takes from the others at a time: the lock is met once in so many objects.
  static constexpr size_t kBatch = 32;

  struct Shared {
    Slot* slots;
    std::atomic<size_t> fresh{0};  // slots from here on were never used
    std::mutex mutex;
    std::vector<Slot*> free;
  };
  // Slots a thread may reuse without a lock. Trivial, so it may be used while the thread's other locals are destroyed;
  // what it still holds when the thread ends is handed back by Guard.
  struct Cache {
    std::array<Slot*, 2 * kBatch> slots;
    size_t count;
    bool watched;  // a Guard of this thread exists
    bool closed;
  };
  struct Guard {
    ~Guard() {
      spill(cache_.count);
      cache_.closed = true;
    }
  };

  static Shared& shared() {
    static Shared& instance = *make_shared_state();
    return instance;
  }
  static Shared* make_shared_state() {
    // Address space only: pages become memory as objects are made in them.
    void* range = mmap(nullptr, sizeof(Slot) * kCapacity, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
      fail(Code::kNnCreateExecutor, "{} MiB of address space are not available; raise the limit (ulimit -v)",
           sizeof(Slot) * kCapacity >> 20);
    auto* state = new Shared;
    state->slots = static_cast<Slot*>(range);
    return state;
  }

  static const std::byte* base() { return reinterpret_cast<const std::byte*>(shared().slots); }
  static Slot* slot_of(const void* pointer) { return static_cast<Slot*>(const_cast<void*>(pointer)); }

  static Slot* take() {
    if (cache_.count == 0) refill();
    return cache_.slots[--cache_.count];
  }
  static void give(Slot* slot) {
    if (!cache_.watched) watch();
    // A part only: a thread that makes and destroys in turn at this border would meet the lock each time.
    if (cache_.count == cache_.slots.size()) spill(kBatch);
    cache_.slots[cache_.count++] = slot;
    // The thread is ending and its Guard has gone: nothing may stay in the cache.
    if (cache_.closed) spill(1);
  }
  static void watch() {
    thread_local Guard guard;
    cache_.watched = true;
  }
  static void refill() {
    Shared& s = shared();
    const size_t wanted = cache_.closed ? 1 : kBatch;
    {
      const std::lock_guard lock(s.mutex);
      for (; !s.free.empty() && cache_.count < wanted; s.free.pop_back()) cache_.slots[cache_.count++] = s.free.back();
    }
    if (cache_.count > 0) return;
    // Fresh slots come one at a time, so that no thread holds pages that it does not use.
    const size_t at = s.fresh.fetch_add(1);
    if (at >= kCapacity)
      fail(Code::kNnCreateExecutor, "{} objects of this kind are alive; destroy those no longer needed", kCapacity);
    cache_.slots[cache_.count++] = &s.slots[at];
  }
  static void spill(size_t count) {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    for (; count > 0; --count) s.free.push_back(cache_.slots[--cache_.count]);
  }

  static inline thread_local constinit Cache cache_{};
};

}  // namespace npu::acl
