// SPDX-License-Identifier: Apache-2.0
// For lowerings that compute in a body of their own: inputs as row-major tensors of one dtype.
#pragma once

#include "graph/node/array.h"
#include "graph/run/frame.h"

namespace npu::graph {

/// `in` as a row-major tensor of `dtype`: itself, or a converted copy.
inline Planned rows_of(Lowering& l, const Planned& in, DType dtype) {
  if (in.dtype() == dtype && contiguous(in)) return in;
  const Planned out = l.scratch(dtype, in.shape());
  copy(l, in, out);
  return out;
}

/// body(float{}) or body(double{}).
template <class F>
void in_slot(DType slot, F&& body) {
  slot == DType::kDouble ? body(double{}) : body(float{});
}

/// The only element of an input that the lowering checked to be a scalar, as a T.
template <class T>
T only_element(const Frame& frame, const Planned& scalar) {
  return *frame.tensor(scalar).as<T>();
}

}  // namespace npu::graph
