// SPDX-License-Identifier: Apache-2.0
// What kernels make of an operand whose elements never change, as the weights of a model: made once and kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace npu::ops {

class Kept {
 public:
  /// `bytes` of memory, 64-byte aligned, that `make(memory)` fills: once for each operand `from` whose turn it is.
  template <class Make>
  std::byte* of(const void* from, int64_t bytes, Make&& make) {
    if (from_ != from || room_ == nullptr) {
      constexpr std::align_val_t kLine{64};
      room_.reset(static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), kLine)),
                  [](std::byte* p) { ::operator delete(p, kLine); });
      make(room_.get());
      from_ = from;
    }
    return room_.get();
  }

 private:
  const void* from_ = nullptr;
  std::shared_ptr<std::byte> room_;
};

}  // namespace npu::ops
