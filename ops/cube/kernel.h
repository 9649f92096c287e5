// SPDX-License-Identifier: Apache-2.0
// The house's own matrix kernels (Highway): small float products, where a library call costs more than the work, and
// all double products.
#pragma once

#include "ops/cube/gemm_args.h"

namespace npu::ops::cube {

/// In the calling thread, through registers only: for products whose B (stored as k x n, not transposed) stays in the
/// first-level caches. A may be stored either way.
void kernel_small(const GemmArgs<float>& args);
void kernel_small(const GemmArgs<double>& args);

/// In the calling thread, one row times one column. Sums of many lanes are added up, in double after each block: one
/// running float would lose a digit for every ten times more terms.
void kernel_dot(const GemmArgs<float>& args);
void kernel_dot(const GemmArgs<double>& args);

/// In the calling thread, operands packed into cache-sized panels.
void kernel_packed(const GemmArgs<float>& args);
void kernel_packed(const GemmArgs<double>& args);

}  // namespace npu::ops::cube
