// SPDX-License-Identifier: Apache-2.0
// Operators made of others: they pick one or several operators in phase 1 and run them in phase 2.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ops/runner/call.h"

namespace npu::ops {

/// A field of a step and its value.
template <class T>
std::pair<std::string_view, T> with(std::string_view field, const T& value) {
  return {field, value};
}

/// Base of an operator that hands its work on. `prepare` calls restart, then `step` for each operator to run, in order.
class Delegate : public Operator {
 public:
  void run() override {
    for (Call& step : steps_) step.compute();
  }
  int64_t cost() const override {
    int64_t sum = 0;
    for (const Call& step : steps_) sum += step.cost();
    return sum;
  }

 protected:
  /// Forgets the steps of an earlier prepare.
  void restart() { steps_.clear(); }
  /// Prepares operator `name` with the given fields as the next step. Raises what it raises.
  template <class... Fields>
  void step(std::string_view name, const Fields&... fields) {
    Call& call = steps_.emplace_back(name);
    (call.set(fields.first, fields.second), ...);
    call.prepare();
  }

 private:
  std::vector<Call> steps_;
};

}  // namespace npu::ops
