// SPDX-License-Identifier: Apache-2.0
// What went wrong in a task. The stream it ran on, every mark recorded behind it and every stream that waits for such a
// mark share one failure, so that each of them tells it, and all know whether a client has heard of it.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/error.h"

namespace npu::device {

struct Failure {
  explicit Failure(Error its_error) : error(std::move(its_error)) {}
  const Error error;
  /// Set when a stream's synchronisation has raised it.
  mutable std::atomic<bool> told{false};
};

using FailurePtr = std::shared_ptr<const Failure>;

}  // namespace npu::device
