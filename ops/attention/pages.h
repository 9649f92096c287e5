// SPDX-License-Identifier: Apache-2.0
// Keys or values that lie in pages of tokens, and a table that tells which pages each sequence has.
#pragma once

#include <cstddef>

#include "base/tensor.h"

namespace npu::ops {

class Pages {
 public:
  Pages() = default;
  /// `cache` is [pages, tokens, N * D], [pages, N, tokens, D] or, in blocks of 32 bytes, [pages, N, D / b, tokens, b];
  /// `table` is a row of page numbers for each sequence. Raises 161002 naming `name` where they do not fit.
  Pages(const Tensor& cache, const Tensor& table, int64_t heads, const char* name);

  int64_t heads() const { return cache_.shape[1]; }
  int64_t depth() const { return cache_.shape[2] * cache_.shape[4]; }
  /// Tokens that a sequence can have.
  int64_t room() const { return table_.shape[1] * cache_.shape[3]; }
  int64_t sequences() const { return table_.shape[0]; }
  DType dtype() const { return cache_.dtype; }
  /// The first `length` tokens of a sequence, as [N, length, D] without gaps. Raises 161002 for pages that are not
  /// there.
  void gather(int64_t sequence, int64_t length, std::byte* to) const;

 private:
  void copy_page(int64_t page, int64_t head, int64_t tokens, std::byte* to) const;
  Tensor cache_, table_;  ///< [pages, N, blocks of a row, tokens, elements of a block]
  const char* name_ = "";
};

}  // namespace npu::ops
