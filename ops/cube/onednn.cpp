// SPDX-License-Identifier: Apache-2.0
#include "ops/cube/onednn.h"

#include <dnnl.hpp>

#include "ops/cube/one_thread.h"

namespace npu::ops::cube {

void onednn_sgemm(const GemmArgs<float>& g) {
  const OneThread one;
  dnnl_sgemm(g.trans_a ? 'T' : 'N', g.trans_b ? 'T' : 'N', g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c,
             g.ldc);
}

}  // namespace npu::ops::cube
