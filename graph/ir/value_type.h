// SPDX-License-Identifier: Apache-2.0
// What flows along an edge of a graph: a kind of value, for tensors a dtype, and as much of the shape as is known.
#pragma once

#include <optional>
#include <string>

#include "base/dims.h"
#include "base/dtype.h"

namespace npu::graph {

enum class ValueKind : uint8_t {
  kTensor,    ///< numbers in device memory, or strings held by the client's framework
  kResource,  ///< the handle of a variable, an iterator, a table
  kVariant,   ///< a list of tensors, a data set, an optional: opaque to everything but the nodes made for it
};

struct ValueType {
  ValueKind kind = ValueKind::kTensor;
  DType dtype = DType::kUndefined;  ///< of tensors; kUndefined for the other kinds

  static ValueType tensor(DType dtype) { return {ValueKind::kTensor, dtype}; }
  static ValueType resource() { return {ValueKind::kResource, DType::kUndefined}; }
  static ValueType variant() { return {ValueKind::kVariant, DType::kUndefined}; }
  bool is_tensor() const { return kind == ValueKind::kTensor; }
  bool operator==(const ValueType&) const = default;
};

/// Values that only their own nodes look into: handles, lists, strings.
bool is_object(const ValueType& type);
/// "float32", "resource", "variant".
std::string to_string(const ValueType& type);

inline constexpr int64_t kUnknownDim = -1;

/// A shape of which the rank, or single dimensions (kUnknownDim), may be unknown until a call.
struct PartialShape {
  std::optional<Dims> dims;

  static PartialShape unknown() { return {}; }
  bool rank_known() const { return dims.has_value(); }
  /// True when every dimension is a number.
  bool known() const;
  bool operator==(const PartialShape&) const = default;
};

/// "[8, ?, 3]", "[]" for a 0-dim tensor, "?" where not even the rank is known.
std::string to_string(const PartialShape& shape);

}  // namespace npu::graph
