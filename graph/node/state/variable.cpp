// SPDX-License-Identifier: Apache-2.0
// Variables. A read shares the value with the variable; a write goes into the variable's own memory unless a reader
// still holds it (Variable::update).
#include "graph/ir/declared_shape.h"
#include "graph/node/resource.h"
#include "graph/plan/refusal.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

bool holds_object(const Lowering& l) {
  const auto* variable = dynamic_cast<const Variable*>(l.object_of(0));
  return variable != nullptr && variable->holds_object();
}

void read_object(Lowering& l) {
  const Planned handle = l.input(0), out = l.object(0);
  l.run({handle, out}, [handle, out](Frame& frame) {
    Value value = variable_of(frame, handle).read();
    require(value.object != nullptr, "the variable became {} while the function ran; it was an object", value.tensor);
    frame.set(out, std::move(value));
  });
}

void read(Lowering& l) {
  if (holds_object(l)) return read_object(l);
  const Tensor& meta = l.variable(0);
  if (!meta.defined())
    fail(Code::kUninitialized, "the variable was read before anything was assigned to it; initialize it first");
  const Planned handle = l.input(0), out = l.late(0, meta.dtype, meta.shape);
  l.run({handle, out}, [handle, out](Frame& frame) { frame.set(out, read_as(out, variable_of(frame, handle))); });
}

/// A variable keeps its shape where the assignment says so: the one it has, or, before the first, was declared with.
void check_shape(const Lowering& l, const Tensor& meta, const Dims& given) {
  if (!l.attributes().get_or("validate_shape", false)) return;
  const auto* declared = l.attributes().find<PartialShape>(kDeclaredShape);
  if (meta.defined())
    require(meta.shape == given, "a variable of shape {} is assigned a value of shape {}",
            to_string(PartialShape{meta.shape}), to_string(PartialShape{given}));
  else if (declared != nullptr && declared->known())
    require(*declared->dims == given, "a variable declared with shape {} is assigned a value of shape {}",
            to_string(*declared), to_string(PartialShape{given}));
}

void assign(Lowering& l) {
  const Planned handle = l.input(0), value = l.input(1);
  const bool object = holds_object(l);
  const Tensor meta = object ? Tensor() : l.variable(0);
  if (!object && !is_object(value.type)) check_shape(l, meta, value.shape());
  l.keep(value);
  l.run({handle, value}, [handle, value](Frame& frame) { variable_of(frame, handle).assign(frame.take(value)); });
  // What follows must see the new shape; where all variables of a model are initialized, nothing follows.
  if ((object && is_object(value.type)) || !l.shared(0)) return;
  if (!meta.defined() || !(meta.shape == value.shape()) || meta.dtype != value.dtype()) l.end_plan();
}

/// variable = variable (+ or -) value, in place.
void update(Lowering& l) {
  const Planned handle = l.input(0), value = l.input(1);
  l.variable(0);
  const std::string op(l.target());
  l.run({handle, value}, [handle, value, op](Frame& frame) {
    const Tensor other = frame.tensor(value);
    variable_of(frame, handle).update([&](const Tensor& tensor) {
      ops::Call(op)
          .set("self", ops::Operand{tensor, {}})
          .set("other", ops::Operand{other, {}})
          .set("out", tensor)
          .run();
    });
  });
}

void is_initialized(Lowering& l) {
  const Planned handle = l.input(0), out = l.late(0, DType::kBool, {});
  if (!holds_object(l)) l.variable(0);
  l.run({handle, out}, [handle, out](Frame& frame) {
    Value value = make_value(frame.device(), DType::kBool, {});
    *value.tensor.as<bool>() = variable_of(frame, handle).initialized();
    frame.set(out, std::move(value));
  });
}

NPU_NODE(Kind::kRead, read, {}, Part::kRead);
NPU_NODE(Kind::kAssign, assign, {}, Part::kAssign);
NPU_NODE(Kind::kAssignAdd, update, "add", Part::kUpdate);
NPU_NODE(Kind::kAssignSubtract, update, "sub", Part::kUpdate);
NPU_NODE("VarIsInitializedOp", is_initialized);

}  // namespace
}  // namespace npu::graph
