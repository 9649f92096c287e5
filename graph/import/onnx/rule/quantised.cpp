// SPDX-License-Identifier: Apache-2.0
// Quantised operators: their meanings see the shapes of the run; here the types of what they give.
#include "graph/import/onnx/tensor.h"
#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {
namespace {

/// The zero point's type, else what output_dtype says, else uint8.
void quantize(Translation& t) {
  DType type = t.has(2) ? t.dtype(t.in(2)) : DType::kUInt8;
  const auto named = t.attribute<int64_t>("output_dtype", 0);
  if (!t.has(2) && named != 0) type = element_type(named);
  if (type == DType::kUndefined)
    t.refuse(fmt::format("it quantises to {}, which the NPU does not compute", element_name(named)));
  t.give(0, t.itself({ValueType::tensor(type)}).shaped(t.value(t.in(0)).shape));
}

void dequantize(Translation& t) {
  t.give(0, t.itself({ValueType::tensor(t.dtype(t.in(1)))}).shaped(t.value(t.in(0)).shape));
}

NPU_ONNX("QuantizeLinear", quantize);
NPU_ONNX("DequantizeLinear", dequantize);

}  // namespace
}  // namespace npu::graph::onnx
