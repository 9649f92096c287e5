// SPDX-License-Identifier: Apache-2.0
// For meanings that compute in a body of their own: numbers come in rows, as float or double, and go out in the type of
// the output. Halves are widened before and rounded once behind.
#pragma once

#include <utility>
#include <vector>

#include "graph/node/onnx/inputs.h"
#include "graph/node/rows.h"

namespace npu::graph::onnx {

/// What numbers of this type are computed in: bytes and halves fit a float, wider integers a double.
inline DType slot_of(DType dtype) {
  const bool wide = dtype == DType::kDouble || (is_integer(dtype) && size_of(dtype) > 2);
  return wide ? DType::kDouble : DType::kFloat;
}

/// Output `i` and where its numbers are computed.
struct Result {
  Planned out, rows;
  /// Behind the steps that compute them.
  void store(Lowering& l) const {
    if (rows.slot != out.slot) copy(l, rows, out);
  }
};
inline Result result(Lowering& l, size_t i, DType dtype, const Dims& shape, DType slot) {
  const Planned out = l.make(i, dtype, shape);
  return {out, dtype == slot ? out : l.scratch(slot, shape)};
}

/// Goes over all positions of a box, the last axis first; `at` is where it stands.
template <class F>
void each_position(const std::vector<int64_t>& sizes, F&& body) {
  for (const int64_t size : sizes)
    if (size <= 0) return;
  std::vector<int64_t> at(sizes.size());
  while (true) {
    body(std::as_const(at));
    size_t axis = sizes.size();
    while (axis > 0 && ++at[axis - 1] == sizes[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

inline ops::Operand number_of(const Scalar& value) { return {{}, value}; }

/// a op b in memory of the node's own, of a's type and the broadcast shape.
inline Planned combined(Lowering& l, std::string_view op, const Planned& a, const Planned& b) {
  const Planned out = l.scratch(a.dtype(), broadcast(a.shape(), b.shape()));
  l.call(op).set("self", a).set("other", b).set("out", out);
  return out;
}
/// a = a op number.
inline void change(Lowering& l, std::string_view op, const Planned& a, const Scalar& value) {
  l.call(op).set("self", a).set("other", number_of(value)).set("out", a);
}

inline std::vector<int64_t> sizes_of(const Dims& dims, size_t from = 0) {
  return {dims.begin() + static_cast<int64_t>(from), dims.end()};
}

/// Refuses numbers that are not floating.
inline void require_floats(const Lowering& l, size_t i) {
  require(is_floating(l.dtype(i)), "input {} is {}; it must be float, double or half", i, l.dtype(i));
}

}  // namespace npu::graph::onnx
