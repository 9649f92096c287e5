// SPDX-License-Identifier: Apache-2.0
#include "graph/run/run_scope.h"

namespace npu::graph {

RunScope::RunScope(const std::string& graph, std::atomic<int64_t>& next_step)
    : graph_(graph), next_step_(next_step), outermost_(current_ == nullptr) {
  if (!outermost_) return;
  step_ = next_step_.fetch_add(1);
  current_ = this;
}

RunScope::~RunScope() {
  if (outermost_) current_ = nullptr;
}

RunScope::Loop::Loop(bool trains) : scope_(trains ? current_ : nullptr) {
  if (scope_ == nullptr) return;
  if (scope_->in_loop_)
    scope_ = nullptr;
  else
    scope_->in_loop_ = true;
}

RunScope::Loop::~Loop() {
  if (scope_ != nullptr) scope_->in_loop_ = false;
}

void RunScope::Loop::turn() {
  if (scope_ == nullptr) return;
  // The first turn is the step that the run began with.
  if (!first_) scope_->step_ = scope_->next_step_.fetch_add(1);
  first_ = false;
}

}  // namespace npu::graph
