// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/form.h"

#include <algorithm>

#include "graph/ir/ir_type.h"

namespace npu::graph {
namespace {

struct TypeNames {
  DType dtype;
  std::string_view tensorflow, ge;
  int onnx;
};

constexpr TypeNames kTypes[] = {
    {DType::kFloat, "DT_FLOAT", "DT_FLOAT", 1},
    {DType::kHalf, "DT_HALF", "DT_FLOAT16", 10},
    {DType::kBFloat16, "DT_BFLOAT16", "DT_BF16", 16},
    {DType::kDouble, "DT_DOUBLE", "DT_DOUBLE", 11},
    {DType::kInt8, "DT_INT8", "DT_INT8", 3},
    {DType::kInt16, "DT_INT16", "DT_INT16", 5},
    {DType::kInt32, "DT_INT32", "DT_INT32", 6},
    {DType::kInt64, "DT_INT64", "DT_INT64", 7},
    {DType::kUInt8, "DT_UINT8", "DT_UINT8", 2},
    {DType::kUInt16, "DT_UINT16", "DT_UINT16", 4},
    {DType::kUInt32, "DT_UINT32", "DT_UINT32", 12},
    {DType::kUInt64, "DT_UINT64", "DT_UINT64", 13},
    {DType::kBool, "DT_BOOL", "DT_BOOL", 9},
    {DType::kString, "DT_STRING", "DT_STRING", 8},
    {DType::kComplex64, "DT_COMPLEX64", "DT_COMPLEX64", 14},
    {DType::kComplex128, "DT_COMPLEX128", "DT_COMPLEX128", 15},
};

const TypeNames* names_of(DType dtype) {
  const auto* at =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeNames& names) { return names.dtype == dtype; });
  return at == std::end(kTypes) ? nullptr : at;
}

/// The name that `column` has of a type, `unknown` where it has none. Handles are called the same by all.
std::string_view name_of(const ValueType& type, std::string_view TypeNames::*column, std::string_view unknown) {
  if (type.kind == ValueKind::kResource) return "DT_RESOURCE";
  if (type.kind == ValueKind::kVariant) return "DT_VARIANT";
  const TypeNames* names = names_of(type.dtype);
  return names == nullptr ? unknown : names->*column;
}

}  // namespace

std::string_view tensorflow_type(const ValueType& type) { return name_of(type, &TypeNames::tensorflow, "DT_INVALID"); }

std::string_view ge_type(const ValueType& type) { return name_of(type, &TypeNames::ge, "DT_UNDEFINED"); }

int onnx_type(const ValueType& type) {
  const TypeNames* names = type.is_tensor() ? names_of(type.dtype) : nullptr;
  return names == nullptr ? 0 : names->onnx;
}

std::string_view bytes_of(const Literal& literal) {
  if (!literal.bytes) return {};
  return {reinterpret_cast<const char*>(literal.bytes->data()), literal.bytes->size()};
}

std::string_view ir_type_of(const Node& node) {
  return ir_type(node.kind == Kind::kArgument ? "_Arg" : std::string_view(node.op));
}

}  // namespace npu::graph
