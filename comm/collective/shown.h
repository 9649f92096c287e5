// SPDX-License-Identifier: Apache-2.0
// Collectives in the eyes of observers (ops/runner/observer.h).
#pragma once

#include <functional>
#include <span>

#include "comm/communicator/communicator.h"

namespace npu::comm {

/// A call, or one of several messages, and this rank's buffers.
struct Shown {
  Call call;
  Buffers buffers;
};

/// Calls `run`, a collective or messages on `communicator`'s device, and shows it: named "Hcom" and what it does, with
/// the buffers as rows of elements.
void show(const Communicator& communicator, const char* what, std::span<const Shown> all,
          const std::function<void()>& run);

}  // namespace npu::comm
