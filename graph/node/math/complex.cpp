// SPDX-License-Identifier: Apache-2.0
// Complex numbers from and to their parts. The parts are views: every other number.
#include "graph/node/array.h"

namespace npu::graph {
namespace {

DType part_type(DType dtype) { return dtype == DType::kComplex64 ? DType::kFloat : DType::kDouble; }

/// Real (0) or imaginary (1) parts.
Planned part_of(Planned numbers, int64_t which) {
  numbers.literal = nullptr;
  numbers.type = ValueType::tensor(part_type(numbers.dtype()));
  Tensor& t = numbers.view;
  t.dtype = numbers.type.dtype;
  t.offset = 2 * t.offset + which;
  for (int64_t& stride : t.strides) stride *= 2;
  return numbers;
}

void real(Lowering& l) { give(l, 0, is_complex(l.dtype(0)) ? part_of(l.input(0), 0) : l.input(0)); }

void imag(Lowering& l) {
  if (is_complex(l.dtype(0))) return give(l, 0, part_of(l.input(0), 1));
  fill(l, l.make(0, l.dtype(0), l.shape(0)), Scalar(0));
}

void conj(Lowering& l) {
  const Planned in = l.input(0);
  if (!is_complex(in.dtype())) return give(l, 0, in);
  const Planned out = l.make(0, in.dtype(), in.shape());
  copy(l, part_of(in, 0), part_of(out, 0));
  l.call("neg").set("self", part_of(in, 1)).set("out", part_of(out, 1));
}

void complex(Lowering& l) {
  const Planned out = l.make(0, out_type(l), broadcast(l.shape(0), l.shape(1)));
  l.call("complex").set("real", l.input(0)).set("imag", l.input(1)).set("out", out);
}

/// Magnitude or angle.
void polar(Lowering& l) { l.call(l.target()).set("self", l.input(0)).set("out", l.make(0, out_type(l), l.shape(0))); }

NPU_NODE("Real", real);
NPU_NODE("Imag", imag);
NPU_NODE("Conj", conj);
NPU_NODE("Complex", complex);
NPU_NODE("ComplexAbs", polar, "abs");
NPU_NODE("Angle", polar, "angle");

}  // namespace
}  // namespace npu::graph
