// SPDX-License-Identifier: Apache-2.0
#include "device/memory/hold.h"

#include <utility>

#include "base/error.h"
#include "device/memory/arena_table.h"
#include "device/memory/host.h"

namespace npu::device {

Hold::Hold(const void* ptr) {
  if (ptr == nullptr) return;
  arena_ = detail::arena_of(ptr);
  if (arena_ == nullptr) arena_ = detail::arena_of_kernel(ptr);
  if (arena_ == nullptr) {
    begin_ = detail::hold_host(ptr);
    return;
  }
  begin_ = arena_->hold(arena_->contains(ptr) ? ptr : arena_->to_client(ptr));
}

Hold::~Hold() {
  if (begin_ == nullptr) return;
  if (arena_ == nullptr)
    detail::release_host(begin_);
  else
    arena_->release(begin_);
}

Hold::Hold(Hold&& other) noexcept : arena_(other.arena_), begin_(std::exchange(other.begin_, nullptr)) {}

bool Hold::freed() const {
  if (begin_ == nullptr) return false;
  return arena_ == nullptr ? detail::is_held_after_free(begin_) : arena_->is_held_after_free(begin_);
}

void check_not_freed(const Hold& hold, const char* what) {
  if (!detail::guard_mode || !hold.freed()) return;
  fail(Code::kRtParamInvalid,
       "{} points to memory that was freed after it was recorded; free it when the graph is destroyed", what);
}

}  // namespace npu::device
