// SPDX-License-Identifier: Apache-2.0
// Svd of matrices, the last two axes: singular values, and the vectors U and V with A = U diag(S) V^H. Pairs of vectors
// have the signs that the algorithm leaves them; TensorFlow promises none.
#include <algorithm>

#include "graph/node/array.h"

namespace npu::graph {
namespace {

Dims with_sizes(Dims batch, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes) batch.push_back(size);
  return batch;
}

void svd(Lowering& l) {
  const Planned in = l.input(0);
  const Dims& shape = l.shape(0);
  require(shape.size() >= 2, "Input tensor 0 must have rank >= 2, got {}", shape.size());
  const bool vectors = l.attributes().get_or<bool>("compute_uv", true);
  const bool full = l.attributes().get_or<bool>("full_matrices", false);
  const int64_t m = shape[shape.size() - 2], n = shape.back(), least = std::min(m, n);
  Dims batch = shape;
  batch.pop_back(), batch.pop_back();
  const DType dtype = l.dtype(0);
  const Planned s = l.make(0, dtype, with_sizes(batch, {least}));
  const Planned u = l.make(1, dtype, vectors ? with_sizes(batch, {m, full ? m : least}) : Dims{0});
  const Planned v = l.make(2, dtype, vectors ? with_sizes(batch, {n, full ? n : least}) : Dims{0});
  if (count_of(batch) == 0) return;
  // TensorFlow gives the values, which are real, in the type of the matrix.
  const Planned values = is_complex(dtype) ? l.scratch(real_of(dtype), s.shape()) : s;
  auto call = l.call("svd");
  call.set("self", in).set("full_matrices", full).set("compute_uv", vectors).set("S", values);
  if (vectors) call.set("U", u).set("V", v);
  if (is_complex(dtype)) copy(l, values, s);
}

NPU_NODE("Svd", svd);

}  // namespace
}  // namespace npu::graph
