// SPDX-License-Identifier: Apache-2.0
// The operators that a graph's node runs, one by one, for observers that look inside of nodes.
#pragma once

namespace npu::ops {

class Operator;
struct Execution;

/// While it lives, operators that this thread runs are shown as those of `node`; what these call themselves is not.
class InsideScope {
 public:
  explicit InsideScope(const Execution* node) : node_(node), outer_(current_) { current_ = this; }
  ~InsideScope() { current_ = outer_; }
  InsideScope(const InsideScope&) = delete;
  InsideScope& operator=(const InsideScope&) = delete;

  /// Whether operators of this thread are shown.
  static bool open() { return current_ != nullptr && current_->node_ != nullptr; }
  /// Calls op.run() and shows it.
  static void run(Operator& op);

 private:
  const Execution* const node_;  ///< null: nothing is shown
  const InsideScope* const outer_;
  inline static thread_local constinit const InsideScope* current_ = nullptr;
};

}  // namespace npu::ops
