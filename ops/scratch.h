// SPDX-License-Identifier: Apache-2.0
// Working memory of kernels. Each thread keeps a few buffers, so taking one in a hot loop costs a few nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace npu::ops {

namespace detail {
struct ScratchBlock {
  void* data = nullptr;
  size_t bytes = 0;
};
ScratchBlock take_scratch(size_t bytes);
void give_scratch(ScratchBlock block);
}  // namespace detail

/// Room for `count` elements of T, 64-byte aligned and uninitialised, given back at the end of the scope. Taking and
/// giving back must happen on one thread; other threads may use the memory meanwhile. Blocks nest freely.
template <class T>
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(int64_t count) : block_(detail::take_scratch(static_cast<size_t>(count) * sizeof(T))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (block_.data != nullptr) detail::give_scratch(block_);
  }

  T* data() const { return static_cast<T*>(block_.data); }
  /// The memory, taken now unless it holds `count` elements already: for buffers that many walks never need.
  T* at_least(int64_t count) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    if (block_.bytes < bytes) {
      if (block_.data != nullptr) detail::give_scratch(std::exchange(block_, {}));
      block_ = detail::take_scratch(bytes);
    }
    return data();
  }
  operator T*() const { return data(); }  // NOLINT: used like the array it is

 private:
  detail::ScratchBlock block_;
};

}  // namespace npu::ops
