// SPDX-License-Identifier: Apache-2.0
// Writes down the operators of tasks as they run, for all who want them: once each.
#pragma once

#include <memory>

#include "ops/runner/observer.h"

namespace npu::acl {

/// Operators are recorded while this lives.
class TaskLease {
 public:
  /// `shapes`: also what each operator reads and writes.
  explicit TaskLease(bool shapes);
  ~TaskLease();
  TaskLease(const TaskLease&) = delete;
  TaskLease& operator=(const TaskLease&) = delete;

 private:
  const bool shapes_;
};

}  // namespace npu::acl
