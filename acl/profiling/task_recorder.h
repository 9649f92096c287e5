// SPDX-License-Identifier: Apache-2.0
// Writes down the operators of tasks as they run.
#pragma once

#include "ops/runner/observer.h"

namespace npu::acl {

class TaskRecorder final : public ops::Observer {
 public:
  /// `shapes`: also what each operator reads and writes.
  explicit TaskRecorder(bool shapes) : shapes_(shapes) {}
  std::unique_ptr<ops::Watch> start(const ops::Execution& execution) override;

 private:
  const bool shapes_;
};

}  // namespace npu::acl
