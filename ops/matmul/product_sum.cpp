// SPDX-License-Identifier: Apache-2.0
// What is left to do for the weight of a loop over time steps: many small products that all add into one matrix.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/cube/gemm.h"
#include "ops/matmul/product.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

constexpr int64_t kPartWork = int64_t{1} << 20;  // multiply-adds that two threads share

/// out = out + the sum over i of left[i] @ right[i], in order. All of left have one form, and all of right. The result
/// is that of one product after another; threads share its tiles, not the products, so they meet once.
struct ProductSum final : Operator {
  std::vector<Tensor> left, right;
  Tensor out;

  void prepare() override;
  void run() override;
  void moved() override {}
  int64_t cost() const override { return product_.cost() * static_cast<int64_t>(left.size()); }

 private:
  template <class T>
  void run_tiles() const;

  Product product_;
  cube::Tiling tiling_;
  bool tiled_ = false;
};

/// Whether it is stored row by row (inner axis 1), or column by column (0).
bool lies(const Tensor& t, size_t inner) {
  return t.strides[inner] == 1 && t.strides[1 - inner] >= std::max<int64_t>(1, t.shape[inner]);
}

/// Whether a kernel reads it where it lies.
bool readable(const Tensor& t) { return lies(t, 1) || lies(t, 0); }

/// The operand as a stored matrix: whether it is turned, and its leading dimension.
std::pair<bool, int64_t> stored(const Tensor& t) {
  const bool turned = !lies(t, 1);
  return {turned, turned ? t.strides[1] : t.strides[0]};
}

bool overlap(const Tensor& a, const Tensor& b) {
  const auto end = [](const Tensor& t) { return t.bytes() + t.span() * static_cast<int64_t>(size_of(t.dtype)); };
  return a.bytes() < end(b) && b.bytes() < end(a);
}

void ProductSum::prepare() {
  require(left.size() == right.size(), "left has {} matrices, right {}; each needs its partner", left.size(),
          right.size());
  if (left.empty()) return;
  const auto alike = [](const std::vector<Tensor>& all, const char* name) {
    for (const Tensor& t : all)
      require(t.shape == all[0].shape && t.strides == all[0].strides && t.dtype == all[0].dtype,
              "{} has {} and {}; all must have one form", name, all[0], t);
  };
  alike(left, "left"), alike(right, "right");
  const Tensor &a = left[0], &b = right[0];
  require(a.rank() == 2 && b.rank() == 2, "left holds {}, right {}: both must be matrices", a.shape, b.shape);
  require(a.shape[1] == b.shape[0], "left holds {}, right {}: inner sizes differ ({} and {})", a.shape, b.shape,
          a.shape[1], b.shape[0]);
  require_shape(out, {a.shape[0], b.shape[1]});
  // What run falls back to; its checks hold for all products, as they have one form.
  product_.plan(a, b, out, out);
  const bool one_type = a.dtype == b.dtype && a.dtype == out.dtype;
  // The fast way computes where the operands lie: none of them may have to be converted or packed.
  tiled_ = one_type && (a.dtype == DType::kFloat || a.dtype == DType::kDouble) && readable(a) && readable(b) &&
           out.contiguous() && a.shape[1] > 0;
  // All together they are worth two threads where one alone is not.
  const int64_t depth = a.shape[1], all = depth * static_cast<int64_t>(left.size());
  const int64_t enough = kPartWork / std::max<int64_t>(1, out.count());
  // From a depth of 2048 on plan_tiles slices k; the fast way walks each k whole, so the depth stays below that.
  tiling_ =
      cube::plan_tiles(out.shape[0], out.shape[1], std::min({std::max(depth, std::min(all, enough)), int64_t{2047}}));
}

template <class T>
void ProductSum::run_tiles() const {
  const int64_t m = out.shape[0], n = out.shape[1], k = left[0].shape[1];
  parallel_parts(tiling_.tiles(), [&](int64_t index) {
    const cube::Tile tile = cube::tile_at(tiling_, m, n, k, index, 0);
    for (size_t i = 0; i < left.size(); ++i) {
      cube::GemmArgs<T> whole{stored(left[i]).first, stored(right[i]).first, m, n, k};
      whole.a = left[i].as<T>(), whole.lda = stored(left[i]).second;
      whole.b = right[i].as<T>(), whole.ldb = stored(right[i]).second;
      cube::GemmArgs<T> part = cube::cut(whole, {tile.row, tile.rows, tile.col, tile.cols, 0, k});
      part.beta = T(1);
      part.c = out.as<T>() + tile.row * n + tile.col, part.ldc = n;
      cube::gemm_serial(part);
    }
  });
}

void ProductSum::run() {
  // An operand that shares memory with the sum would change under the tiles that still read it.
  const auto meets_out = [&](const Tensor& t) { return overlap(t, out); };
  const bool apart =
      std::none_of(left.begin(), left.end(), meets_out) && std::none_of(right.begin(), right.end(), meets_out);
  if (tiled_ && apart) return out.dtype == DType::kFloat ? run_tiles<float>() : run_tiles<double>();
  for (size_t i = 0; i < left.size(); ++i) product_.run(left[i], right[i], out, out);
}

NPU_OPERATOR(ProductSum, "product_sum", "matmul", in<&ProductSum::left>("left"), in<&ProductSum::right>("right"),
             inout<&ProductSum::out>("out"));

}  // namespace
}  // namespace npu::ops
