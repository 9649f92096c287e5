// SPDX-License-Identifier: Apache-2.0
// Stacks. Plans know the shape of what comes off where all values are alike, as they do of lists (tensor_list.cpp).
#include "graph/value/stack.h"

#include <cstring>

#include "graph/node/run_integer.h"
#include "graph/node/state/changing.h"
#include "graph/node/state/handle.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

Stack& stack_of(Frame& frame, const Planned& handle) { return object_behind<Stack>(frame, handle, "a stack"); }

/// What the plan may count on of the stack: of one that was made in this plan, what its node says.
struct Known {
  ListType type;
  Stack::Constant constant = {};
};

Known known_of(Lowering& l) {
  if (l.input(0).list) return {*l.input(0).list};
  const auto& stack = planned_handle<Stack>(l, "a stack");
  return {stack.type(), stack.constant()};
}

constexpr size_t kLargestConstant = 64;  // bytes: a shape

/// The elements of what is pushed, where the plan knows them and they are few.
std::shared_ptr<const Literal> constant_of(const Planned& value) {
  const bool few = value.literal && value.literal->bytes && value.literal->bytes->size() <= kLargestConstant;
  return few ? value.literal : nullptr;
}

void make(Lowering& l) {
  const auto& element = l.attributes().get<ValueType>("elem_type");
  std::string name = l.attributes().get_or<std::string>("stack_name", "");
  if (name.empty()) name = l.node().client_name.empty() ? l.node().name : l.node().client_name;
  const Planned most = l.input(0);
  require(l.shape(0).empty(), "Stack size must be a scalar, but had shape: {}", client_text(most.shape()));
  Planned out = l.object(0);
  out.list = std::make_shared<const ListType>(element, PartialShape::unknown());
  l.alias(0, out);
  l.run({most, out}, [=](Frame& frame) {
    frame.set(out, {{}, nullptr, std::make_shared<Stack>(element, name, integer(frame, most))});
  });
}

void push(Lowering& l) {
  const auto [type, constant] = known_of(l);
  const Planned handle = l.input(0), value = l.input(1);
  require(value.type == type.element, "Must have type {} but got {}: the stack holds {}, and {} is pushed",
          client_number(type.element), client_number(value.type), client_text(type.element), client_text(value.type));
  l.keep(value);
  l.alias(0, value);
  const std::shared_ptr<const Literal> known = constant_of(value);
  const auto body = [=](Frame& frame) { stack_of(frame, handle).push(frame.value(value), known); };
  const bool same = !value.dynamic && !changes(type, value.shape()) && constant.with(known) == constant;
  if (is_object(value.type) || same) return l.run({handle, value}, body);
  l.run({handle, value}, Changing{body});
}

/// What comes off is of the type that the plan was made for, unless somebody else pushed meanwhile.
void check(const Value& value, const Planned& planned) {
  if (is_object(planned.type) || planned.dynamic) return;
  require(value.tensor.shape == planned.shape(), "the stack came to hold {} while the function ran; it held {}",
          value.tensor, planned.view);
}

/// All that was pushed is this: nodes behind it need not wait for the run.
void pop_constant(Lowering& l, const std::shared_ptr<const Literal>& all) {
  const Planned handle = l.input(0);
  l.constant(0, *all);
  l.run({handle}, [=](Frame& frame) {
    const Value value = stack_of(frame, handle).pop();
    const auto bytes = static_cast<size_t>(bytes_of(value.tensor));
    require(bytes == all->bytes->size() && std::memcmp(value.tensor.bytes(), all->bytes->data(), bytes) == 0,
            "the stack came to hold other values while the function ran");
  });
}

void pop(Lowering& l) {
  need_unchanged(l);
  const auto [type, constant] = known_of(l);
  const ValueType asked = l.node().outputs[0].type;
  require(asked == type.element, "the stack holds {}; the node's elem_type is {}. Pop as the type that was pushed",
          client_text(type.element), client_text(asked));
  if (constant.all != nullptr) return pop_constant(l, constant.all);
  const bool known = !is_object(asked) && type.shape;
  const Planned handle = l.input(0), out = known ? l.late(0, asked.dtype, *type.shape) : l.unknown(0);
  if (!known) l.end_plan();
  l.run({handle, out}, [=](Frame& frame) {
    Value value = stack_of(frame, handle).pop();
    check(value, out);
    frame.set(out, std::move(value));
  });
}

void close(Lowering& l) {
  known_of(l);
  const Planned handle = l.input(0);
  l.run({handle}, [=](Frame& frame) { stack_of(frame, handle).close(); });
}

NPU_NODE("StackV2", make);
NPU_NODE("StackPushV2", push);
NPU_NODE("StackPopV2", pop);
NPU_NODE("StackCloseV2", close);

}  // namespace
}  // namespace npu::graph
