// SPDX-License-Identifier: Apache-2.0
// Memory that recorded work names. A graph runs again when its client may have freed the memory (caches that grow while
// a graph is recorded); hardware then reads and writes the old addresses. A hold keeps these addresses from being
// reused: a freed block cannot be named by new calls, and its memory is given back when the last hold ends.
#pragma once

namespace npu::device {

class Arena;

/// One hold on the block around an address, as the client or a kernel names it. Empty for memory that is neither of
/// allocate nor of malloc_host (mapped and imported memory, the client's own): whoever records that must check it
/// again.
class Hold {
 public:
  explicit Hold(const void* ptr);
  ~Hold();
  Hold(Hold&& other) noexcept;
  Hold& operator=(Hold&&) = delete;
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  explicit operator bool() const { return begin_ != nullptr; }
  /// Whether the client has freed the block since.
  bool freed() const;

 private:
  Arena* arena_ = nullptr;       // null for host memory
  const void* begin_ = nullptr;  // of the block, as the client names it
};

/// With ANYNPU_GUARD=1 raises 107000 when the client has freed what `hold` retains; `what` names the argument. Without,
/// recorded work uses freed memory as hardware does.
void check_not_freed(const Hold& hold, const char* what);

}  // namespace npu::device
