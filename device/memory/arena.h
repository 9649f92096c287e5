// SPDX-License-Identifier: Apache-2.0
// The memory of one device: a memfd of its whole capacity, mapped once for the client and, in guard mode, a second time
// for kernels; a best-fit allocator over it. memory.h is what the other rooms see of it.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "device/memory/block.h"
#include "device/queue/progress.h"

namespace npu::device {

class Arena {
 public:
  Arena(int device, size_t capacity, bool guard);

  /// Null when no free run of addresses or capacity is left.
  std::byte* allocate(size_t bytes);
  /// Why an address cannot be freed; kNone when it was.
  enum class Refusal { kNone, kInside, kNotLive };
  Refusal deallocate(const void* ptr);
  void release_all();

  /// Bytes of physical handles that share the capacity. `charge` returns false when they do not fit.
  bool charge(size_t bytes);
  void uncharge(size_t bytes);

  /// The block whose padded range holds `ptr`; `padded` gets that range's size.
  Block find(const void* ptr, size_t* padded) const;
  bool contains(const void* ptr) const { return ptr >= client_ && ptr < client_ + size_; }
  void* to_kernel(const void* ptr) const { return kernel_ + (static_cast<const std::byte*>(ptr) - client_); }
  bool contains_kernel(const void* ptr) const { return ptr >= kernel_ && ptr < kernel_ + size_; }
  void* to_client(const void* ptr) const { return client_ + (static_cast<const std::byte*>(ptr) - kernel_); }

  /// Retains the live block around `ptr` and returns its first byte, null where there is none (hold.h).
  const void* hold(const void* ptr);
  /// Undoes one hold. A block that was freed meanwhile is given back with the last one.
  void release(const void* begin);
  /// Whether a held block was freed.
  bool is_held_after_free(const void* begin) const;

  /// The file behind it, for other processes (share.h).
  int file() const { return fd_; }
  size_t size() const { return size_; }
  std::byte* kernel_base() const { return kernel_; }
  size_t offset_of(const void* ptr) const { return static_cast<size_t>(static_cast<const std::byte*>(ptr) - client_); }

  MemoryInfo info() const;
  /// Bytes of blocks that the machine has not given yet; physical handles count as given.
  size_t unwritten() const;
  void reset_high_water();
  /// Waits for the oldest freed block that queued work holds; false when there is none or time is up.
  bool wait_for_freed(int64_t timeout_ms);

 private:
  struct Live {
    size_t bytes;      // asked for
    size_t padded;     // taken
    size_t holds = 0;  // of recorded work
  };
  struct Retired {
    size_t offset;
    size_t padded;
    Fence fence;
  };

  size_t padded_size(size_t bytes) const;
  size_t take(size_t padded);
  void give_back(size_t offset, size_t padded);
  void reclaim();
  void retire(size_t offset, size_t padded);
  void end_block(size_t offset, const Live& block);
  void set_used(size_t used);
  void erase_free(std::map<size_t, size_t>::iterator at);

  const int device_;
  const size_t alignment_;
  size_t size_ = 0;
  int fd_ = -1;
  std::byte* client_ = nullptr;
  std::byte* kernel_ = nullptr;

  mutable std::mutex mutex_;
  std::map<size_t, Live> live_;                  // by offset
  std::map<size_t, Live> held_;                  // freed, but recorded work names them; still used
  std::map<size_t, size_t> free_;                // offset -> size, never two neighbours
  std::set<std::pair<size_t, size_t>> by_size_;  // (size, offset) of free_
  std::deque<Retired> retired_;                  // oldest first
  size_t used_ = 0;
  size_t charged_ = 0;  // of used_, by physical handles
  size_t high_water_ = 0;
  size_t waiting_ = 0;
};

namespace detail {
/// Maps `bytes` of `fd` at `want` (null: anywhere) so that a forked child does not inherit them.
std::byte* map_shared(void* want, size_t bytes, int fd, int protection);
/// An anonymous file of `bytes`, not yet committed. Raises 207001.
int make_memory_file(const char* name, size_t bytes);
}  // namespace detail

}  // namespace npu::device
