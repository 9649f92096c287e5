// SPDX-License-Identifier: Apache-2.0
// From a step of a plan to an operator that can run.
#pragma once

#include <memory>

#include "graph/plan.h"

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
    void* member = field.field->locate(op);
    switch (field.field->kind) {
      case ops::FieldKind::kTensor: visit(*static_cast<Tensor*>(member), field.values.front()); break;
      case ops::FieldKind::kOperand: visit(static_cast<ops::Operand*>(member)->tensor, field.values.front()); break;
      case ops::FieldKind::kTensorList: {
        auto& list = *static_cast<std::vector<Tensor>*>(member);
        list.resize(field.values.size());
        for (size_t i = 0; i < list.size(); ++i) visit(list[i], field.values[i]);
        break;
      }
      default: {
        auto& list = *static_cast<std::vector<ops::Operand>*>(member);
        list.resize(field.values.size());
        for (size_t i = 0; i < list.size(); ++i) visit(list[i].tensor, field.values[i]);
      }
    }
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
