// SPDX-License-Identifier: Apache-2.0
// From a step of a plan to an operator that can run.
#pragma once

#include <memory>

#include "graph/plan/plan.h"

namespace npu::graph {

/// The operator with its attributes, still without tensors.
inline std::unique_ptr<ops::Operator> make_operator(const Step& step) {
  auto op = ops::create(*step.def);
  for (const auto& set : step.attributes) set(*op);
  return op;
}

/// Calls `visit(tensor, planned)` for each tensor of the operator's fields; lists have as many as the step gives them.
template <class Visit>
void each_tensor(ops::Operator& op, const Step& step, Visit&& visit) {
  for (const TensorField& field : step.tensors) {
    if (field.field->kind == ops::FieldKind::kTensorList)
      field.field->of<std::vector<Tensor>>(op).resize(field.values.size());
    if (field.field->kind == ops::FieldKind::kOperandList)
      field.field->of<std::vector<ops::Operand>>(op).resize(field.values.size());
    auto planned = field.values.begin();
    ops::for_each_tensor(*field.field, op, [&](Tensor& tensor) { visit(tensor, *planned++); });
  }
}

/// Fills the tensor fields; `address(planned)` gives where the planned tensor's slot begins.
template <class Address>
void bind_tensors(ops::Operator& op, const Step& step, Address&& address) {
  each_tensor(op, step, [&](Tensor& tensor, const Planned& planned) {
    tensor = planned.view;
    tensor.data = address(planned);
  });
}

/// Tells an operator that was bound before where its tensors are now.
template <class Address>
void move_tensors(ops::Operator& op, const Step& step, Address&& address) {
  each_tensor(op, step, [&](Tensor& tensor, const Planned& planned) { tensor.data = address(planned); });
}

}  // namespace npu::graph
