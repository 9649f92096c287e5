// SPDX-License-Identifier: Apache-2.0
#include "ops/cube/kept_right.h"

#include <type_traits>

#include "base/half.h"
#include "base/thread_pool.h"
#include "ops/cube/gemm.h"
#include "ops/cube/panel_product.h"

namespace npu::ops::cube {

template <class T>
KeptRight<T>::KeptRight(bool trans, int64_t k, int64_t n, const T* b) : trans_(trans), k_(k), n_(n), b_(b) {
  if (k * n == 0 || !has_panels(dtype_of<T>)) return;
  GemmArgs<T> args{.trans_b = trans, .n = n, .k = k};
  args.b = b, args.ldb = trans ? k : n;
  panel_order_right(args, true, panels_.at_least(panel_right_size(dtype_of<T>, k, n)));
}

template <class T>
void KeptRight<T>::multiply(bool trans, int64_t m, const T* a, float beta, float* c) const {
  if (panels_.data() == nullptr) {
    // Of BFloat16 only a product without terms comes here, which reads neither side.
    GemmArgs<float> plain{trans, trans_, m, n_, k_};
    if constexpr (std::is_same_v<T, float>) plain.a = a, plain.b = b_;
    plain.lda = trans ? m : k_, plain.ldb = trans_ ? k_ : n_;
    plain.beta = beta, plain.c = c, plain.ldc = n_;
    return gemm(plain);
  }
  GemmArgs<T> args{trans, trans_, m, n_, k_};
  args.a = a, args.lda = trans ? m : k_;
  args.b = b_, args.ldb = trans_ ? k_ : n_;
  Tiling tiling = plan_panels(m, n_, k_, 1);
  // Never in slices: room for their sums would cost more than it shares out.
  tiling.depth = k_, tiling.slices = 1;
  parallel_parts(tiling.tiles(), [&](int64_t index) {
    const Tile tile = tile_at(tiling, m, n_, k_, index, 0);
    const T* panels = panels_ + panel_right_size(dtype_of<T>, k_, tile.col);
    panel_product(cut(args, tile), panels, k_, {c + tile.row * n_ + tile.col, n_, 1, beta});
  });
}

template class KeptRight<float>;
template class KeptRight<BFloat16>;

}  // namespace npu::ops::cube
