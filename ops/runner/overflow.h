// SPDX-License-Identifier: Apache-2.0
// Results on a device that saturates: what is infinite becomes the largest number of its type, what is no number 0, and
// the device's overflow word is set. A kernel knows nothing of it; whoever runs operators opens a scope around them.
// In INF/NAN mode there is no scope, and nothing is looked at.
//
// float16, bfloat16 and float32 saturate. float64 and complex numbers keep infinities: the device computes them on its
// scalar processors, by IEEE's rules. Operators that only move elements, or choose between them, keep them as well.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "device/context/overflow.h"
#include "ops/operator.h"

namespace npu::ops {

/// While it lives, results of operators that this thread runs through ops::Call or hands to saturate_results saturate.
class OverflowScope {
 public:
  /// Fills in whose results they are. Asked for the first overflow only, and for observers.
  using Describe = void (*)(const void* context, device::TaskName& name);

  OverflowScope(int device, Describe describe, const void* context)
      : device_(device), describe_(describe), context_(context), outer_(current_) {
    current_ = this;
  }
  ~OverflowScope() { current_ = outer_; }
  OverflowScope(const OverflowScope&) = delete;
  OverflowScope& operator=(const OverflowScope&) = delete;

  /// The innermost of this thread, or null.
  static const OverflowScope* current() { return current_; }
  /// Sets the device's word and, for the first overflow, tells where it happened. `result` is still as computed.
  void found(const Tensor& result, std::string_view output) const;

 private:
  device::Overflow described(const Tensor& result, std::string_view output) const;
  const int device_;
  const Describe describe_;
  const void* const context_;
  const OverflowScope* const outer_;
  inline static thread_local constinit const OverflowScope* current_ = nullptr;
};

/// A result that was saturated.
struct FoundOverflow {
  device::Overflow overflow;
  const std::byte* data = nullptr;  ///< where its elements are
};

/// While it lives, every overflow that a scope finds in this thread is added to `found`, those too that leave the
/// device's word as it is.
class OverflowWitness {
 public:
  explicit OverflowWitness(std::vector<FoundOverflow>& found) : found_(found), outer_(current_) { current_ = this; }
  ~OverflowWitness() { current_ = outer_; }
  OverflowWitness(const OverflowWitness&) = delete;
  OverflowWitness& operator=(const OverflowWitness&) = delete;

  /// The innermost of this thread, or null.
  static OverflowWitness* current() { return current_; }
  void add(FoundOverflow found) { found_.push_back(std::move(found)); }

 private:
  std::vector<FoundOverflow>& found_;
  OverflowWitness* const outer_;
  inline static thread_local constinit OverflowWitness* current_ = nullptr;
};

/// Whether `op` computes, so that a result of it may overflow; false for those that move elements. A list of calls
/// computes where a member does.
bool may_overflow(Operator& op);
namespace detail {
void saturate_results(Operator& op, const OverflowScope& scope);
}
/// Saturates what `op` has written. Does nothing outside a scope.
inline void saturate_results(Operator& op) {
  if (const OverflowScope* scope = OverflowScope::current()) [[unlikely]]
    detail::saturate_results(op, *scope);
}
/// Whether something that `op` has written overflows, in whatever mode the device is.
bool results_overflow(Operator& op);
/// Whether an element of a floating tensor that saturates is infinite or no number.
bool has_overflow(const Tensor& tensor);
/// Brings every element into range; strides may be any.
void saturate(const Tensor& tensor);

}  // namespace npu::ops
