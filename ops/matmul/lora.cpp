// SPDX-License-Identifier: Apache-2.0
// Low-rank updates chosen row by row: out = y, and to columns [y_offset, y_offset + y_slice_size) of row i is added
// scale * x[i] @ weight_a[w]ᵀ @ weight_b[w]ᵀ with w = indices[i]. A row with a negative index gets nothing.
#include <map>
#include <vector>

#include "base/thread_pool.h"
#include "ops/cube/gemm.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {
namespace {

struct AddLora final : Operator {
  Tensor y, x, weight_b, indices, weight_a, out;
  int64_t layer_idx = 0, y_offset = 0, y_slice_size = -1;
  double scale = 1e-3;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 2000 + x.shape[0] * (weight_b.shape[2] + x.shape[1]) * weight_b.shape[3] / 8; }

 private:
  void check_weights() const;
  std::map<int64_t, std::vector<int64_t>> rows_by_weight() const;
  void add(int64_t weight, const std::vector<int64_t>& rows) const;
  const float* load(const Rows& from, const std::vector<int64_t>& rows, float* to) const;
  const float* load(const Rows& weights, int64_t weight, int64_t rows, float* to) const;

  Rows y_, x_, out_, a_, b_;
  int64_t rank_ = 0;
};

void AddLora::check_weights() const {
  require(weight_b.rank() == 4, "weightB is {}; it must be [weights, layers, columns, rank]", weight_b);
  require(!weight_a.defined() || (weight_a.rank() == 4 && weight_a.shape[0] == weight_b.shape[0] &&
                                  weight_a.shape[1] == weight_b.shape[1] && weight_a.shape[2] == weight_b.shape[3]),
          "weightA is {}, weightB {}; weightA must be [weights, layers, rank, inner]", weight_a, weight_b);
  const Tensor& first = weight_a.defined() ? weight_a : weight_b;
  require(first.shape[3] == x.shape[1], "x is {}, {} is {}: inner sizes differ ({} and {})", x.shape,
          weight_a.defined() ? "weightA" : "weightB", first.shape, x.shape[1], first.shape[3]);
  require(layer_idx >= 0 && layer_idx < weight_b.shape[1], "layerIdx is {}; weightB has {} layers", layer_idx,
          weight_b.shape[1]);
}

void AddLora::prepare() {
  require(y.rank() == 2 && x.rank() == 2 && x.shape[0] == y.shape[0],
          "y is {}, x is {}; both must be matrices with the same number of rows", y, x);
  require(out.shape == y.shape, "out is {}, y is {}: the shapes must be equal", out, y);
  require(indices.shape == Dims{y.shape[0]} && is_integer(indices.dtype),
          "indices is {}; it has one integer for each row of y ({})", indices, y);
  check_weights();
  const int64_t width = y_slice_size == -1 ? y.shape[1] : y_slice_size;
  require(y_offset >= 0 && weight_b.shape[2] <= width && y_offset + weight_b.shape[2] <= y.shape[1],
          "yOffset is {}, ySliceSize {}, weightB {}, y {}: the {} columns of the update must lie in both", y_offset,
          y_slice_size, weight_b, y, weight_b.shape[2]);
  y_ = Rows(y, 1, DType::kFloat), x_ = Rows(x, 1, DType::kFloat), out_ = Rows(out, 1, DType::kFloat);
  if (weight_a.defined()) a_ = Rows(weight_a, 3, DType::kFloat);
  b_ = Rows(weight_b, 3, DType::kFloat);
  rank_ = weight_b.shape[3];
}

void put(const Rows& to, int64_t row, const float* values) {
  if (!to.direct()) return to.store(row, values);
  std::copy_n(values, to.length(), static_cast<float*>(to.target(row, nullptr)));
}

// Ordered, so that errors and sums do not depend on chance.
std::map<int64_t, std::vector<int64_t>> AddLora::rows_by_weight() const {
  std::map<int64_t, std::vector<int64_t>> found;
  for (int64_t row = 0; row < y.shape[0]; ++row) {
    const auto weight = static_cast<int64_t>(load_element(indices, row * indices.strides[0]));
    require(weight < weight_b.shape[0], "indices[{}] is {}; there are {} weights", row, weight, weight_b.shape[0]);
    found[std::max<int64_t>(weight, -1)].push_back(row);
  }
  return found;
}

// Rows side by side in float32, as the product wants them.
const float* AddLora::load(const Rows& from, const std::vector<int64_t>& rows, float* to) const {
  for (size_t i = 0; i < rows.size(); ++i) {
    float* row = to + static_cast<int64_t>(i) * from.length();
    const void* there = from.load(rows[i], row);
    if (there != row) std::copy_n(static_cast<const float*>(there), from.length(), row);
  }
  return to;
}

const float* AddLora::load(const Rows& weights, int64_t weight, int64_t rows, float* to) const {
  const int64_t first = (weight * weight_b.shape[1] + layer_idx) * rows;
  parallel_for(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, weights.length())),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   float* row = to + r * weights.length();
                   const void* there = weights.load(first + r, row);
                   if (there != row) std::copy_n(static_cast<const float*>(there), weights.length(), row);
                 }
               });
  return to;
}

void AddLora::add(int64_t weight, const std::vector<int64_t>& rows) const {
  const auto m = static_cast<int64_t>(rows.size());
  const int64_t inner = x_.length(), columns = weight_b.shape[2], width = y_.length();
  const Scratch<float> xs(m * inner), middle(m * rank_), a(weight_a.defined() ? rank_ * inner : 0), b(columns * rank_);
  const float* left = load(x_, rows, xs);
  if (weight_a.defined()) {
    cube::gemm<float>({.trans_b = true,
                       .m = m,
                       .n = rank_,
                       .k = inner,
                       .a = left,
                       .lda = inner,
                       .b = load(a_, weight, rank_, a),
                       .ldb = inner,
                       .c = middle,
                       .ldc = rank_});
    left = middle;
  }
  // The product goes onto y's own numbers: the sum is rounded once, as it is stored.
  const Scratch<float> ys(m * width);
  load(y_, rows, ys);
  cube::gemm<float>({.trans_b = true,
                     .m = m,
                     .n = columns,
                     .k = rank_,
                     .alpha = static_cast<float>(scale),
                     .a = left,
                     .lda = rank_,
                     .b = load(b_, weight, columns, b),
                     .ldb = rank_,
                     .beta = 1,
                     .c = ys.data() + y_offset,
                     .ldc = width});
  for (int64_t i = 0; i < m; ++i) put(out_, rows[static_cast<size_t>(i)], ys.data() + i * width);
}

void AddLora::run() {
  const auto groups = rows_by_weight();
  for (const auto& [weight, rows] : groups) {
    if (weight >= 0) {
      add(weight, rows);
      continue;
    }
    const Scratch<float> same(static_cast<int64_t>(rows.size()) * y_.length());
    load(y_, rows, same);
    for (size_t i = 0; i < rows.size(); ++i) put(out_, rows[i], same.data() + static_cast<int64_t>(i) * y_.length());
  }
}

NPU_OPERATOR(AddLora, "add_lora", "matmul", in<&AddLora::y>("y"), in<&AddLora::x>("x"),
             in<&AddLora::weight_b>("weight_b"), in<&AddLora::indices>("indices"),
             optional<&AddLora::weight_a>("weight_a"), attr<&AddLora::layer_idx>("layer_idx"),
             attr<&AddLora::scale>("scale"), attr<&AddLora::y_offset>("y_offset"),
             attr<&AddLora::y_slice_size>("y_slice_size"), out<&AddLora::out>("out"));

}  // namespace
}  // namespace npu::ops
