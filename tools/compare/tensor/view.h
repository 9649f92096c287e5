// SPDX-License-Identifier: Apache-2.0
// A tensor to compare or to write: bytes, what they are, and in which order they are read.
#pragma once

#include <optional>

#include "tools/compare/element/decode.h"
#include "tools/compare/tensor/layout.h"

namespace npu::compare {

struct View {
  const DataType* type;
  Bytes bytes;
  Shape shape;                   ///< in which it is seen
  std::optional<Layout> layout;  ///< nothing: one element after another
  uint64_t count = 0;            ///< of elements that are seen

  /// Elements [first, first + n) as numbers.
  void read(uint64_t first, size_t n, float* to) const;
  void read(uint64_t first, size_t n, double* to) const;
  /// The same as they stand in memory; of types that fill whole bytes.
  void read_raw(uint64_t first, size_t n, std::byte* to) const;
};

}  // namespace npu::compare
