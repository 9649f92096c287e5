// SPDX-License-Identifier: Apache-2.0
// Values that may be missing. Plans know what is in one of ours that came in as an argument, which is how branches hand
// them on; iterators' are the client's.
#include "graph/node/state/optional.h"

#include "graph/ir/literal.h"
#include "graph/node/array.h"
#include "graph/plan/refusal.h"
#include "graph/run/frame.h"
#include "graph/value/arithmetic.h"
#include "graph/value/optional.h"
#include "graph/value/tensor_list.h"

namespace npu::graph {
namespace {

void give_optional(Frame& frame, const Planned& out, std::optional<std::vector<Value>> values) {
  frame.set(out, {{}, nullptr, std::make_shared<Optional>(std::move(values))});
}

void from_value(Lowering& l) {
  const std::vector<Planned> in = l.inputs();
  const Planned out = l.object(0);
  l.run(in, {out}, [in, out](Frame& frame) { give_optional(frame, out, frame.take(in)); });
}

void none(Lowering& l) {
  const Planned out = l.object(0);
  l.run({out}, [out](Frame& frame) { give_optional(frame, out, std::nullopt); });
}

/// The optional as the plan sees it.
const Optional& seen(const Lowering& l) {
  const auto* optional = dynamic_cast<const Optional*>(l.object_of(0));
  if (optional == nullptr) l.decline("its optional is the client's");
  return *optional;
}

/// A list in the place of an optional: loops of ONNX begin with the one and go on with the other.
bool is_list(const Lowering& l) { return dynamic_cast<const TensorList*>(l.object_of(0)) != nullptr; }

void has_value(Lowering& l) {
  const bool has = is_list(l) || seen(l).values() != nullptr;
  l.constant(0, scalar_literal(has));
}

void get_value(Lowering& l) {
  if (is_list(l)) return l.alias(0, l.input(0));
  const std::vector<Value>* values = seen(l).values();
  require(values != nullptr, "the optional holds no value");
  const size_t count = l.node().outputs.size();
  require(values->size() == count, "the optional holds {} values; {} are asked for", values->size(), count);
  std::vector<Planned> outputs, used{l.input(0)};
  for (size_t i = 0; i < count; ++i) {
    const Value& value = (*values)[i];
    outputs.push_back(value.object ? l.object(i) : l.late(i, value.tensor.dtype, value.tensor.shape));
    if (value.object) l.end_plan();  // what is in it, plans see in arguments
    used.push_back(outputs.back());
  }
  l.run(used, [in = l.input(0), outputs](Frame& frame) {
    const Value held = frame.take(in);
    const std::vector<Value>& now = *static_cast<const Optional&>(*held.object).values();
    for (size_t i = 0; i < outputs.size(); ++i) frame.set(outputs[i], now[i]);
  });
}

bool holds_optional(const Lowering& l) {
  return is_object(l.input(0).type) && dynamic_cast<const Optional*>(l.object_of(0)) != nullptr;
}

NPU_NODE("OptionalFromValue", from_value);
NPU_NODE("OptionalNone", none);
NPU_NODE("OptionalHasValue", has_value);
NPU_NODE("OptionalGetValue", get_value);

}  // namespace

bool lower_zeros_of_optional(Lowering& l) {
  if (!holds_optional(l)) return false;
  const Planned in = l.input(0), out = l.object(0);
  l.run({in, out}, [=](Frame& frame) { frame.set(out, zeros_like(frame.device(), frame.value(in))); });
  return true;
}

bool lower_sum_of_optionals(Lowering& l) {
  if (!holds_optional(l)) return false;
  const std::vector<Planned> in = l.inputs();
  const Planned out = l.object(0);
  l.run(in, {out}, [=](Frame& frame) {
    Value sum = frame.value(in.front());
    for (size_t i = 1; i < in.size(); ++i) sum = sum_of(frame.device(), sum, frame.value(in[i]));
    frame.set(out, std::move(sum));
  });
  return true;
}

}  // namespace npu::graph
