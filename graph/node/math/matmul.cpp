// SPDX-License-Identifier: Apache-2.0
// Matrix products and inverses. Transposed operands are views; the engine reads them as they lie.
#include "graph/plan/lowering.h"

namespace npu::graph {
namespace {

Planned last_two_swapped(const Planned& m, bool swap) {
  if (!swap) return m;
  std::vector<int64_t> order(m.shape().size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permuted(m, order);
}

void product(Lowering& l, std::string_view swap_a, std::string_view swap_b) {
  require(l.shape(0).size() >= 2 && l.shape(1).size() >= 2, "the operands are {} and {}; both must be matrices",
          l.shape(0), l.shape(1));
  const Planned a = last_two_swapped(l.input(0), l.attributes().get_or<bool>(swap_a, false));
  const Planned b = last_two_swapped(l.input(1), l.attributes().get_or<bool>(swap_b, false));
  const size_t ra = a.shape().size(), rb = b.shape().size();
  require(a.shape()[ra - 1] == b.shape()[rb - 2], "the operands are {} and {}: inner sizes differ ({} and {})",
          a.shape(), b.shape(), a.shape()[ra - 1], b.shape()[rb - 2]);
  Dims shape = broadcast(Dims(std::span(a.shape().data(), ra - 2)), Dims(std::span(b.shape().data(), rb - 2)));
  shape.push_back(a.shape()[ra - 2]);
  shape.push_back(b.shape()[rb - 1]);
  const Planned out = l.make(0, l.dtype(0), shape);
  l.call("matmul").set("self", a).set("mat2", b).set("kept_mat2", l.known(1)).set("out", out);
}

void mat_mul(Lowering& l) { product(l, "transpose_a", "transpose_b"); }
void batch_mat_mul(Lowering& l) { product(l, "adj_x", "adj_y"); }

void inverse(Lowering& l) {
  const Dims& shape = l.shape(0);
  const DType dtype = l.dtype(0);
  if (dtype != DType::kFloat && dtype != DType::kDouble) l.decline("inverses of this type are left to the client");
  require(shape.size() >= 2 && shape[shape.size() - 1] == shape[shape.size() - 2],
          "Input must be batch of square matrices; it is {}", shape);
  const Planned in = last_two_swapped(l.input(0), l.attributes().get_or<bool>("adjoint", false));
  l.call("inverse").set("self", in).set("out", l.make(0, dtype, shape));
}

NPU_NODE("MatrixInverse", inverse);
NPU_NODE(Kind::kProduct, mat_mul);
NPU_NODE(Kind::kBatchProduct, batch_mat_mul);
NPU_NODE(Kind::kWideBatchProduct, batch_mat_mul);

}  // namespace
}  // namespace npu::graph
