// SPDX-License-Identifier: Apache-2.0
// Running prepared operators as a device computes: who runs one knows neither saturation nor overflow nor observers,
// but how to say whose results they are.
#pragma once

#include "device/context/state.h"
#include "ops/runner/observer.h"
#include "ops/runner/overflow.h"

namespace npu::ops {

/// Whose results they are, for who reads of an overflow or looks on.
struct Caller {
  OverflowScope::Describe describe;
  const void* context;
  const char* call = nullptr;  ///< of a task of its own that profiles have: its name, for as long as the process lives
};

/// Calls `run`, which runs `op` (null: operators through ops::Call). While `device` saturates, results are brought into
/// range, and its overflow word is set where they were not.
template <class Run>
void run_on(int device, Operator* op, const Caller& caller, Run&& run) {
  if (!device::saturates(device)) [[likely]]
    return run();
  const OverflowScope scope(device, caller.describe, caller.context);
  run();
  if (op != nullptr) saturate_results(*op);
}

namespace detail {
void run_observed(int device, Operator& op, const Caller& caller);
}

/// Runs `op`, a task of its own, and shows it to observers.
inline void run_on(int device, Operator& op, const Caller& caller) {
  if (observed()) [[unlikely]]
    return detail::run_observed(device, op, caller);
  run_on(device, &op, caller, [&] { op.run(); });
}

}  // namespace npu::ops
