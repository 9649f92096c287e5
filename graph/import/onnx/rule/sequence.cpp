// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors. Edges of lists carry no dtype, so what a sequence holds is told by the node that it comes from.
#include "graph/import/onnx/tensor.h"
#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {
namespace {

void give_sequence(Translation& t, DType element) {
  t.give(0, t.itself({ValueType::variant()}).with("element_dtype", ValueType::tensor(element)));
}
DType element_of(Translation& t, size_t i) { return t.walker().element_of(t.function(), t.in(i)); }

void empty(Translation& t) {
  const auto number = t.attribute<int64_t>("dtype", 1);
  if (element_type(number) == DType::kUndefined) t.refuse("its dtype is one that the NPU does not compute");
  give_sequence(t, element_type(number));
}
void of_tensors(Translation& t) { give_sequence(t, t.dtype(t.in(0))); }
void same(Translation& t) { give_sequence(t, element_of(t, 0)); }
void to_tensor(Translation& t) { t.give(0, t.itself({ValueType::tensor(element_of(t, 0))})); }
void length(Translation& t) { t.give(0, t.itself({ValueType::tensor(DType::kInt64)})); }

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
