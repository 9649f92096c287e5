// SPDX-License-Identifier: Apache-2.0
// Products of a few rows with a large right operand, as in the decoding of a language model. Each of its numbers is
// used once per row, so such a product takes as long as reading them: these kernels read the right operand once, as it
// is stored, and widen half types in registers.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace npu::ops::cube {

/// The most rows: sums and the broadcast elements of A must stay in registers and the first-level cache.
inline constexpr int64_t kMostFewRows = 8;

/// How the numbers of a right operand are stored.
struct StoredRight {
  DType dtype = DType::kUndefined;  ///< kHalf or kBFloat16
  bool by_columns = false;          ///< number (p, j) at data[j * ld + p], otherwise at data[p * ld + j]
  int64_t ld = 0;
  /// In blocks (ACL_FORMAT_FRACTAL_NZ): lines of `width` numbers follow each other, with `ld` equal to `width`; the
  /// next `width` columns (by_columns: rows) begin `step` numbers later. 0: not in blocks.
  int64_t width = 0, step = 0;
};

/// Rows that the kernels compute instead of m: A and C must have these.
int64_t padded_rows(int64_t m);

/// A part of B: rows [begin, begin + depth), columns [col, col + cols). In blocks, the first of the axis that is cut
/// into blocks is a multiple of the width.
struct RightPart {
  int64_t begin, depth, col, cols;
};

/// c = A B for a part of B: `a` is rows x depth, `lda` numbers from row to row, and `c` rows x cols, dense, both
/// float32.
struct FewRows {
  const StoredRight& b;
  const void* data;
  const RightPart& part;
  int64_t rows;  ///< padded_rows of something
  const float* a;
  int64_t lda;
  float* c;
};

/// In the calling thread. Each sum has the same order whichever columns a part has, so cutting B by columns changes no
/// bit.
void few_rows_product(const FewRows& product);

}  // namespace npu::ops::cube
