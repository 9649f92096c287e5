// SPDX-License-Identifier: Apache-2.0
// What meanings of ONNX's operators share. Such a node has the attributes that the file gives it, `opset`, and `given`:
// for each input as ONNX numbers it the position among the node's inputs, or -1 where it is left out.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "graph/node/array.h"

namespace npu::graph::onnx {

/// Position of ONNX's input `i` among the node's; -1 where it is left out.
inline int64_t position(const Lowering& l, size_t i) {
  const auto& given = l.attributes().get<std::vector<int64_t>>("given");
  return i < given.size() ? given[i] : -1;
}
inline bool has(const Lowering& l, size_t i) { return position(l, i) >= 0; }
/// Raises 161002 where it is left out.
inline size_t at(const Lowering& l, size_t i) {
  require(has(l, i), "its input {} is left out", i);
  return static_cast<size_t>(position(l, i));
}
inline int64_t opset(const Lowering& l) { return l.attributes().get_or<int64_t>("opset", 0); }
/// Whether anyone may read output `i`.
inline bool wants(const Lowering& l, size_t i) { return i < l.node().outputs.size(); }

inline int64_t int_attribute(const Lowering& l, std::string_view name, int64_t otherwise) {
  return l.attributes().get_or<int64_t>(name, otherwise);
}
inline double float_attribute(const Lowering& l, std::string_view name, double otherwise) {
  return l.attributes().get_or<double>(name, otherwise);
}
inline std::string text_attribute(const Lowering& l, std::string_view name, std::string otherwise) {
  return l.attributes().get_or<std::string>(name, std::move(otherwise));
}
inline std::vector<int64_t> list_attribute(const Lowering& l, std::string_view name,
                                           std::vector<int64_t> otherwise = {}) {
  return l.attributes().get_or<std::vector<int64_t>>(name, std::move(otherwise));
}
/// A list that older opsets have as an attribute and newer ones as input `i`; none where neither is there.
inline std::optional<std::vector<int64_t>> list(const Lowering& l, std::string_view name, size_t i) {
  if (l.attributes().has(name)) return l.attributes().get<std::vector<int64_t>>(name);
  if (!has(l, i)) return std::nullopt;
  return l.integers(at(l, i));
}

/// A vector of int64 that the steps of the node read.
inline Planned given_integers(Lowering& l, const std::vector<int64_t>& values) {
  return l.given(integer_literal(DType::kInt64, {static_cast<int64_t>(values.size())}, values));
}

}  // namespace npu::graph::onnx
