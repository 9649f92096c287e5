// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/data_type.h"

#include <algorithm>
#include <array>

namespace npu::graph::record {
namespace {

constexpr std::array kTypes{
    DataType{0, "DT_UNDEFINED", "int8", 8, DType::kUndefined},
    DataType{1, "DT_FLOAT", "float32", 32, DType::kFloat},
    DataType{2, "DT_FLOAT16", "float16", 16, DType::kHalf},
    DataType{3, "DT_INT8", "int8", 8, DType::kInt8},
    DataType{4, "DT_UINT8", "uint8", 8, DType::kUInt8},
    DataType{5, "DT_INT16", "int16", 16, DType::kInt16},
    DataType{6, "DT_UINT16", "uint16", 16, DType::kUInt16},
    DataType{7, "DT_INT32", "int32", 32, DType::kInt32},
    DataType{8, "DT_INT64", "int64", 64, DType::kInt64},
    DataType{9, "DT_UINT32", "uint32", 32, DType::kUInt32},
    DataType{10, "DT_UINT64", "uint64", 64, DType::kUInt64},
    DataType{11, "DT_BOOL", "bool", 8, DType::kBool},
    DataType{12, "DT_DOUBLE", "float64", 64, DType::kDouble},
    DataType{13, "DT_STRING", "string", 0, DType::kString},
    DataType{14, "DT_DUAL_SUB_INT8", "dual_sub_int8", 8, DType::kUndefined},
    DataType{15, "DT_DUAL_SUB_UINT8", "dual_sub_uint8", 8, DType::kUndefined},
    DataType{16, "DT_COMPLEX64", "complex64", 64, DType::kComplex64},
    DataType{17, "DT_COMPLEX128", "complex128", 128, DType::kComplex128},
    DataType{18, "DT_QINT8", "qint8", 8, DType::kUndefined},
    DataType{19, "DT_QINT16", "qint16", 16, DType::kUndefined},
    DataType{20, "DT_QINT32", "qint32", 32, DType::kUndefined},
    DataType{21, "DT_QUINT8", "quint8", 8, DType::kUndefined},
    DataType{22, "DT_QUINT16", "quint16", 16, DType::kUndefined},
    DataType{23, "DT_RESOURCE", "int64", 64, DType::kUndefined},
    DataType{24, "DT_STRING_REF", "string_ref", 0, DType::kUndefined},
    DataType{25, "DT_DUAL", "dual", 40, DType::kUndefined},
    DataType{26, "DT_VARIANT", "variant", 0, DType::kUndefined},
    DataType{27, "DT_BF16", "bfloat16", 16, DType::kBFloat16},
    DataType{28, "DT_INT4", "int4", 4, DType::kInt4},
    DataType{29, "DT_UINT1", "uint1", 1, DType::kUInt1},
    DataType{30, "DT_INT2", "int2", 2, DType::kUndefined},
    DataType{31, "DT_UINT2", "uint2", 2, DType::kUndefined},
    DataType{32, "DT_COMPLEX32", "complex32", 32, DType::kComplex32},
    DataType{33, "DT_HIFLOAT8", "hifloat8", 8, DType::kHiFloat8},
    DataType{34, "DT_FLOAT8_E5M2", "float8_e5m2", 8, DType::kFloat8E5M2},
    DataType{35, "DT_FLOAT8_E4M3FN", "float8_e4m3fn", 8, DType::kFloat8E4M3},
    DataType{36, "DT_FLOAT8_E8M0", "float8_e8m0", 8, DType::kFloat8E8M0},
    DataType{37, "DT_FLOAT6_E3M2", "float6_e3m2", 6, DType::kUndefined},
    DataType{38, "DT_FLOAT6_E2M3", "float6_e2m3", 6, DType::kUndefined},
    DataType{39, "DT_FLOAT4_E2M1", "float4_e2m1", 4, DType::kUndefined},
    DataType{40, "DT_FLOAT4_E1M2", "float4_e1m2", 4, DType::kUndefined},
    DataType{41, "DT_HIFLOAT4", "hifloat4", 4, DType::kUndefined},
    DataType{42, "DT_HIFLOAT4_SCALE", "hifloat4_scale", 32, DType::kUndefined},
};

}  // namespace

std::span<const DataType> data_types() { return kTypes; }

const DataType& data_type(int32_t number) {
  const auto at = static_cast<uint32_t>(number);
  return kTypes[at < kTypes.size() ? at : 0];
}

const DataType* find_data_type(std::string_view name) {
  const auto at = std::ranges::find(kTypes, name, &DataType::name);
  return at == kTypes.end() ? nullptr : &*at;
}

int32_t data_type_of(DType dtype) {
  const auto at = std::ranges::find(kTypes, dtype, &DataType::dtype);
  return at == kTypes.end() ? 0 : at->number;
}

}  // namespace npu::graph::record
