// SPDX-License-Identifier: Apache-2.0
// Operators that are one expression: most of math, comparison and activation. A family file lists them, one line each:
//
//   NPU_POINT3("add", "self, other, alpha=1", kNumeric | kComplex, x + z * y),
//
// names the fields, the compute dtypes, and the value of one element, where x, y, z, w, v are the inputs in order. The
// result's type is the expression's: bool for comparisons, the real type for abs of complex. Fields are spelled
//
//   other         an input: a tensor or a number; takes part in promotion
//   alpha=1       a number the caller may leave out; it never changes the compute dtype
//   max?=highest  an input the caller may leave out; takes part when given. `lowest` and `highest` stand for the ends
//                 of the compute dtype (infinities for floats)
//
// NPU_POINT_FAMILY("math", list) ends the file. See ops/math/logic/logical.cpp for the frame around such a list.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/vector/elementwise/elementwise.h"

namespace npu::ops {

/// Compute dtypes an expression exists for.
enum PointTypes : uint32_t {
  kReal = 1,        ///< float32 and float64; integer inputs are computed in float32, as torch does
  kInteger = 2,     ///< int64 for all integers
  kBoolean = 4,     ///< bool inputs are computed as int64 0 and 1
  kComplex = 8,     ///< complex64 and complex128
  kCondition = 16,  ///< the first input is a bool (or anything, read as != 0) that takes no part in promotion
  kTruth = 32,      ///< bool inputs are computed as bool; wins over kBoolean
  kRounded = 64,    ///< numbers beside float16 and bfloat16 tensors are rounded to their dtype before use, as torch's
                    ///< CPU does; in the other lines they keep float32's precision, as torch has it there
  kMoves = 128,     ///< the value is that of an input, perhaps with another sign, or a number given: kMovesBits
  kNumeric = kReal | kInteger | kBoolean,
};

/// One compute dtype of one expression.
struct PointKernel {
  BlockKernel run = nullptr;
  DType result = DType::kUndefined;  ///< slot of the result
};

/// One line of a family.
struct PointOp {
  const char* name;
  const char* fields;
  uint32_t types;
  int inputs;
  PointKernel f32, f64, i64, b8, c64, c128;
};

/// Registers every line of a family. `ops` must live as long as the process.
struct PointFamily {
  PointFamily(const char* family, std::span<const PointOp> ops);
};

/// A registered line as a part of something larger (chain.h).
struct PointCall {
  PointKernel kernel;
  DType slot = DType::kUndefined;       ///< of the inputs
  bool condition = false;               ///< the first input is a bool instead
  std::vector<std::string_view> names;  ///< of the inputs
  std::vector<Scalar> numbers;          ///< what stands for an input that is not given; undefined where one must be
};

/// The line of this name for inputs of `dtype`; a kernel without `run` when there is no such line or it is not defined
/// for them.
PointCall point_call(std::string_view name, DType dtype);

/// The compute dtype torch gives several operands together: the highest category among tensors with dimensions, then
/// 0-dim tensors, then host scalars. Undefined operands do not count.
DType promote(std::span<const Operand* const> operands);
/// Raises 161002 unless `out` may take results of dtype `result`: nothing becomes a kind of number that cannot hold it
/// (complex real, a float an integer, an integer a bool), as in torch.
void require_castable(std::string_view name, DType result, const Tensor& out);
/// The dtype both can be converted to without loss of category (torch.promote_types).
DType promote_types(DType a, DType b);

}  // namespace npu::ops
