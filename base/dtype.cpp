// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <array>

namespace npu {
namespace {

using C = DTypeInfo::Category;

constexpr DTypeInfo kUnknown{DType::kUndefined, "unknown", 0, C::kOther};
constexpr std::array kInfo{
    DTypeInfo{DType::kFloat, "float32", 4, C::kFloating},
    DTypeInfo{DType::kHalf, "float16", 2, C::kFloating},
    DTypeInfo{DType::kInt8, "int8", 1, C::kSigned},
    DTypeInfo{DType::kInt32, "int32", 4, C::kSigned},
    DTypeInfo{DType::kUInt8, "uint8", 1, C::kUnsigned},
    DTypeInfo{DType::kInt16, "int16", 2, C::kSigned},
    DTypeInfo{DType::kUInt16, "uint16", 2, C::kUnsigned},
    DTypeInfo{DType::kUInt32, "uint32", 4, C::kUnsigned},
    DTypeInfo{DType::kInt64, "int64", 8, C::kSigned},
    DTypeInfo{DType::kUInt64, "uint64", 8, C::kUnsigned},
    DTypeInfo{DType::kDouble, "float64", 8, C::kFloating},
    DTypeInfo{DType::kBool, "bool", 1, C::kBool},
    DTypeInfo{DType::kString, "string", 0, C::kOther},
    DTypeInfo{DType::kComplex64, "complex64", 8, C::kComplex},
    DTypeInfo{DType::kComplex128, "complex128", 16, C::kComplex},
    DTypeInfo{DType::kBFloat16, "bfloat16", 2, C::kFloating},
    DTypeInfo{DType::kInt4, "int4", 0, C::kOther},
    DTypeInfo{DType::kUInt1, "uint1", 0, C::kOther},
    DTypeInfo{DType::kComplex32, "complex32", 4, C::kOther},
    DTypeInfo{DType::kHiFloat8, "hifloat8", 1, C::kOther},
    DTypeInfo{DType::kFloat8E5M2, "float8_e5m2", 1, C::kOther},
    DTypeInfo{DType::kFloat8E4M3, "float8_e4m3fn", 1, C::kOther},
    DTypeInfo{DType::kFloat8E8M0, "float8_e8m0fnu", 1, C::kOther},
};

constexpr auto make_index() {
  std::array<int8_t, 64> index{};
  index.fill(-1);
  for (size_t i = 0; i < kInfo.size(); ++i) index[static_cast<size_t>(kInfo[i].dtype)] = static_cast<int8_t>(i);
  return index;
}
constexpr auto kIndex = make_index();

}  // namespace

const DTypeInfo& info(DType dtype) {
  const auto n = static_cast<uint32_t>(dtype);
  return n < kIndex.size() && kIndex[n] >= 0 ? kInfo[static_cast<size_t>(kIndex[n])] : kUnknown;
}

bool is_floating(DType dtype) { return info(dtype).category == C::kFloating; }
bool is_complex(DType dtype) { return info(dtype).category == C::kComplex; }
bool is_integer(DType dtype) {
  const auto c = info(dtype).category;
  return c == C::kSigned || c == C::kUnsigned;
}
DType real_of(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat;
  if (dtype == DType::kComplex128) return DType::kDouble;
  return dtype;
}

}  // namespace npu
