// SPDX-License-Identifier: Apache-2.0
// Literals of numbers that the engine makes itself.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/ir/attribute.h"

namespace npu::graph {

/// Of these elements, in the order of rows.
template <class T>
Literal literal_of(const Dims& shape, std::span<const T> elements) {
  const std::span<const std::byte> bytes = std::as_bytes(elements);
  return {ValueType::tensor(dtype_of<T>), shape,
          std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()), nullptr};
}

/// One dimension.
template <class T>
Literal literal_of(const std::vector<T>& elements) {
  return literal_of<T>({static_cast<int64_t>(elements.size())}, elements);
}

/// A scalar.
template <class T>
Literal scalar_literal(T value) {
  return literal_of<T>({}, {&value, 1});
}

}  // namespace npu::graph
