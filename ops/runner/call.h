// SPDX-License-Identifier: Apache-2.0
// Calls an operator by name from C++: tests, benches and operators that build on others.
//
//   Call("softmax").set("self", x).set("dim", int64_t{1}).set("out", y).run();
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ops/operator.h"
#include "ops/runner/inside.h"
#include "ops/runner/overflow.h"

namespace npu::ops {

class Call {
 public:
  /// Raises 500000 when no operator has this name.
  explicit Call(std::string_view name) {
    const OperatorDef* def = find_operator(name);
    if (def == nullptr) fail(Code::kInternal, "there is no operator '{}'", name);
    op_ = create(*def);
  }
  /// Fills a field. Raises 500000 when the operator has none of this name or it holds another type.
  template <class T>
  Call& set(std::string_view field_name, const T& value) {
    const Field* field = op_->def->field(field_name);
    if (field == nullptr || field->kind != detail::kind_of<T>()) {
      fail(Code::kInternal, "operator {} has no field '{}' of this type", op_->def->name, field_name);
    }
    field->of<T>(*op_) = value;
    return *this;
  }
  /// Checks and plans; computes. Both may be repeated.
  Call& prepare() {
    op_->prepare();
    return *this;
  }
  void compute() {
    if (InsideScope::open()) [[unlikely]]
      InsideScope::run(*op_);
    else
      op_->run();
    saturate_results(*op_);
  }
  int64_t cost() const { return op_->cost(); }
  void run() { prepare().compute(); }
  /// The text of the refusal, empty when prepare accepts the call.
  std::string refusal() {
    try {
      op_->prepare();
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  }

 private:
  std::unique_ptr<Operator> op_;
};

}  // namespace npu::ops
