// SPDX-License-Identifier: Apache-2.0
// What the passes of a cross entropy share whose logits are a product.
#pragma once

#include "ops/matmul/product.h"

namespace npu::ops {

constexpr int64_t kLogits = int64_t{1} << 24;  ///< at a time: 64 MiB

/// [tokens, hidden] and [vocabulary, hidden] of one half type.
inline void require_products(const Tensor& input, const Tensor& weight) {
  require(input.rank() == 2 && weight.rank() == 2 && input.shape[1] == weight.shape[1],
          "input is {}, weight is {}; they must be [tokens, hidden] and [vocabulary, hidden]", input, weight);
  require((input.dtype == DType::kHalf || input.dtype == DType::kBFloat16) && weight.dtype == input.dtype,
          "input is {}, weight is {}; use float16 or bfloat16 for both", input, weight);
}

inline void require_tokens(const char* name, const Tensor& t, int64_t tokens) {
  require(t.rank() == 1 && t.shape[0] == tokens, "{} is {}; it has one number for each of {} tokens", name, t, tokens);
}

inline Tensor rows_of(const Tensor& t, int64_t first, int64_t count) {
  Tensor part = t.view({count, t.shape[1]}, t.strides);
  part.offset += first * t.strides[0];
  return part;
}

}  // namespace npu::ops
