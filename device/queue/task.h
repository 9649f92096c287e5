// SPDX-License-Identifier: Apache-2.0
// One unit of queued work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "device/trace/record.h"

namespace npu::device {

/// A move-only `void()`; callables of up to kInPlace bytes cost no allocation.
class TaskBody {
 public:
  static constexpr size_t kInPlace = 64;

  TaskBody() = default;
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, TaskBody>)
  TaskBody(F&& f) {  // NOLINT: a lambda is a body
    using Body = std::remove_cvref_t<F>;
    if constexpr (sizeof(Body) <= kInPlace && alignof(Body) <= alignof(std::max_align_t) &&
                  std::is_nothrow_move_constructible_v<Body>) {
      new (place_) Body(std::forward<F>(f));
      act_ = &in_place<Body>;
    } else {
      new (place_) Body*(new Body(std::forward<F>(f)));
      act_ = &on_heap<Body>;
    }
  }
  TaskBody(TaskBody&& other) noexcept { take(other); }
  TaskBody& operator=(TaskBody&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~TaskBody() { reset(); }

  explicit operator bool() const { return act_ != nullptr; }
  void operator()() { act_(Action::kCall, place_, nullptr); }
  void reset() {
    if (act_ != nullptr) act_(Action::kDestroy, place_, nullptr);
    act_ = nullptr;
  }

 private:
  enum class Action { kCall, kMove, kDestroy };
  using Act = void (*)(Action, void* self, void* target);

  template <class Body>
  static void in_place(Action action, void* self, void* target) {
    auto* body = static_cast<Body*>(self);
    if (action == Action::kCall) return static_cast<void>((*body)());
    if (action == Action::kMove) new (target) Body(std::move(*body));
    body->~Body();  // one that was moved from ends here too
  }
  template <class Body>
  static void on_heap(Action action, void* self, void* target) {
    auto& body = *static_cast<Body**>(self);
    if (action == Action::kCall) return static_cast<void>((*body)());
    if (action == Action::kMove) new (target) Body*(body);
    if (action == Action::kDestroy) delete body;
  }
  void take(TaskBody& other) {
    if (other.act_ != nullptr) other.act_(Action::kMove, other.place_, place_);
    act_ = std::exchange(other.act_, nullptr);
  }

  Act act_ = nullptr;
  alignas(std::max_align_t) std::byte place_[kInPlace];
};

/// What a task may do; 0 is a kernel: it computes, waits for nobody and may run in the caller's thread.
enum TaskFlag : uint32_t {
  kTaskKernel = 0,
  kTaskMayWait = 1,   ///< may wait for another stream, rank or thread (event waits, collectives)
  kTaskCallback = 2,  ///< runs the client's code
  kTaskHostCopy = 4,  ///< touches pageable host memory
  kTaskAlways = 8,    ///< bookkeeping that runs even after a failure, or in a forced destroy
  kTaskShows = 16,  ///< shows results to others (host memory, another device, ranks, the client's code); dropped after
                    ///< a failure in every mode: it may show what the failure spoiled
  kTaskGates = 32,  ///< all later tasks need what it brings (waits, collectives); when it fails they are dropped
  kTaskRepeats = 64,  ///< may be recorded although it may wait: each run of the graph waits anew
};

struct Task {
  const char* name = "task";     ///< for error texts; must outlive the task (a literal, or a registry's string)
  int64_t cost_ns = 0;           ///< rough running time
  uint32_t flags = kTaskKernel;  ///< TaskFlag bits
  TaskBody body;                 ///< an exception it throws becomes the stream's error
  trace::Launch launched = {};   ///< while the process is profiled
};

}  // namespace npu::device
