// SPDX-License-Identifier: Apache-2.0
// Values that may be missing. Edges of them do not tell what they hold, so the nodes that they come from do.
#include "graph/import/onnx/tensor.h"
#include "graph/import/onnx/translation.h"
#include "graph/ir/literal.h"

namespace npu::graph::onnx {
namespace {

void give_optional(Translation& t, Made made, DType element, ValueType held) {
  made.with(kElement, ValueType::tensor(element)).with(kHeld, held);
  t.give(0, made);
}

/// Of its input, or of nothing of the type that the file names.
void optional(Translation& t) {
  if (t.has(0)) {
    const ValueType type = t.value(t.in(0)).type;
    const DType element = type.is_tensor() ? type.dtype : t.element(t.in(0));
    return give_optional(t, t.make("OptionalFromValue", {t.in(0)}, {ValueType::variant()}), element, type);
  }
  const auto at = t.node().types.find("type");
  if (at == t.node().types.end()) t.refuse("it has neither an input nor a type");
  const ValueView type = read_value_type(at->second);
  if (element_type(type.element) == DType::kUndefined)
    t.refuse(fmt::format("{} is a type that the NPU does not compute", element_name(type.element)));
  give_optional(t, t.make("OptionalNone", {}, {ValueType::variant()}), element_type(type.element), type.type);
}

Edge truth(Translation& t, bool value) { return t.constant(scalar_literal(value)); }

/// Since opset 18 of tensors and sequences as well, which are always there, and of an input that is left out.
void has_element(Translation& t) {
  if (!t.has(0)) return t.give(0, truth(t, false));
  if (!t.held(t.in(0))) return t.give(0, truth(t, true));
  t.give(0, t.make("OptionalHasValue", {t.in(0)}, DType::kBool).shaped({Dims{}}));
}

void get_element(Translation& t) {
  const auto held = t.held(t.in(0));
  if (!held) return t.give(0, t.in(0));
  const Made made = t.make("OptionalGetValue", {t.in(0)}, {*held});
  if (!held->is_tensor()) t.function()[Edge(made).node].attributes.set(kElement, ValueType::tensor(t.element(t.in(0))));
  t.give(0, made);
}

NPU_ONNX("Optional", optional);
NPU_ONNX("OptionalHasElement", has_element);
NPU_ONNX("OptionalGetElement", get_element);

}  // namespace
}  // namespace npu::graph::onnx
