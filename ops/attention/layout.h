// SPDX-License-Identifier: Apache-2.0
// Attention inputs as batch x head x sequence x depth, whatever layout the client uses.
#pragma once

#include <string>

#include "base/tensor.h"

namespace npu::ops {

/// `tensor` seen as [B, N, S, D]. `layout` is the vendor's word: BNSD, BSND, BSH (heads folded into the last axis) or
/// SBH; `heads` unfolds H. Raises 161002 naming `name` when rank or sizes do not fit.
Tensor head_view(const Tensor& tensor, const std::string& layout, int64_t heads, const char* name);
/// Layout TND, the sequences of a batch one behind the other, seen as one row: [1, N, T, D].
Tensor packed_view(const Tensor& tensor, const char* name);

/// One head as a row-major float matrix [S, D] from `row` on: in place when it lies so, else converted into `buffer`
/// (rows * D floats). `ld` receives the distance of rows.
const float* load_rows(const Tensor& view, int64_t batch, int64_t head, int64_t row, int64_t rows, float* buffer,
                       int64_t* ld);
/// The same into `to`, whatever the dtype, `ld` floats from row to row.
void copy_rows(const Tensor& view, int64_t batch, int64_t head, int64_t row, int64_t rows, float* to, int64_t ld);
/// The reverse: `rows` rows of D floats, `ld` apart, into the head.
void store_rows(const Tensor& view, int64_t batch, int64_t head, int64_t row, int64_t rows, const float* from,
                int64_t ld);
/// Rows from `row` on become 0, in all heads.
void clear_rows(const Tensor& view, int64_t row);

}  // namespace npu::ops
