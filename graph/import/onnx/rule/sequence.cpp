// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors. Edges of lists carry no dtype, so what a sequence holds is told by the node that it comes from.
#include "graph/import/onnx/rule/loop_builder.h"
#include "graph/import/onnx/tensor.h"
#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {
namespace {

void give_sequence(Translation& t, DType element) {
  t.give(0, t.itself({ValueType::variant()}).with(kElement, ValueType::tensor(element)));
}
void empty(Translation& t) {
  const auto number = t.attribute<int64_t>("dtype", 1);
  if (element_type(number) == DType::kUndefined) t.refuse("its dtype is one that the NPU does not compute");
  give_sequence(t, element_type(number));
}
void of_tensors(Translation& t) { give_sequence(t, t.dtype(t.in(0))); }
void same(Translation& t) { give_sequence(t, t.element(t.in(0))); }
void to_tensor(Translation& t) { t.give(0, t.itself({ValueType::tensor(t.element(t.in(0)))})); }
void length(Translation& t) { t.give(0, t.itself({ValueType::tensor(DType::kInt64)})); }

/// A loop over the elements of the first sequence. Other sequences give the element at the same place, tensors
/// themselves; each output of the body makes a sequence.
void map(Translation& t) {
  const GraphView graph = graph_of(t, "body");
  if (graph.inputs.size() != t.input_count())
    t.refuse(fmt::format("its body has {} inputs for {}", graph.inputs.size(), t.input_count()));
  LoopBuilder l(t);
  l.count(t.make("ai.onnx::SequenceLength", {t.in(0)}, DType::kInt64));
  const Edge turn = l.inside(LoopBuilder::kTurn);
  for (size_t i = 0; i < t.input_count(); ++i) {
    const bool tensor = t.value(t.in(i)).type.is_tensor();
    const Edge whole =
        l.inside(l.variable(tensor ? graph.inputs[i].name : fmt::format("ai.onnx::source{}", i), t.in(i)));
    if (!tensor)
      l.body.scope.values[graph.inputs[i].name] =
          add(l.body.function, "ai.onnx::SequenceAt", {whole, turn}, ValueType::tensor(t.element(t.in(i))));
  }
  l.take_along(graph);
  t.walker().translate(graph, l.body.scope);
  std::vector<size_t> lists;
  for (const ValueView& output : graph.outputs) {
    const Edge element = l.body.value(t, output.name);
    const ValueType type = l.body.function.output(element).type;
    if (!type.is_tensor()) t.refuse(fmt::format("'{}' of its body is no tensor", output.name));
    const size_t list = l.variable("ai.onnx::made_" + output.name, add(t.function(), "ai.onnx::SequenceEmpty", {},
                                                                       ValueType::variant(), {{kElement, type}}));
    l.becomes(list, add(l.body.function, "ai.onnx::SequenceInsert", {l.inside(list), element}, ValueType::variant(),
                        {{kElement, type}, {"given", std::vector<int64_t>{0, 1, -1}}}));
    lists.push_back(list);
  }
  const Made loop = l.make(l.goes_on());
  for (size_t i = 0; i < lists.size(); ++i) t.give(i, loop.output(static_cast<int32_t>(lists[i])));
}

NPU_ONNX("SequenceMap", map);
NPU_ONNX("SequenceEmpty", empty);
NPU_ONNX("SequenceConstruct", of_tensors);
NPU_ONNX("SplitToSequence", of_tensors);
NPU_ONNX("SequenceInsert", same);
NPU_ONNX("SequenceErase", same);
NPU_ONNX("SequenceAt", to_tensor);
NPU_ONNX("ConcatFromSequence", to_tensor);
NPU_ONNX("SequenceLength", length);

}  // namespace
}  // namespace npu::graph::onnx
