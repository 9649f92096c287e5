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
  bool mapped = false;           ///< the bytes are a file's, which can be read again

  /// Elements [first, first + n) as numbers.
  void read(uint64_t first, size_t n, float* to) const;
  void read(uint64_t first, size_t n, double* to) const;
  /// The same as they stand in memory; of types that fill whole bytes.
  void read_raw(uint64_t first, size_t n, std::byte* to) const;
  /// Gives the memory of elements that were read back, where a file has them and the tensor is a large one.
  void forget(uint64_t first, uint64_t n) const;
};

}  // namespace npu::compare
