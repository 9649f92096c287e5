// SPDX-License-Identifier: Apache-2.0
// The arguments of an aclnn function: what a table's row says of each, and the value that a call gives.
#pragma once

#include <cstdint>

#include "acl/aclnn/object.h"

namespace npu::acl {

/// What a C argument is. Narrow integers and floats arrive widened, from their declared C type.
enum class Word : uint8_t {
  kTensor,
  kTensorList,
  kScalar,
  kScalarList,
  kIntArray,
  kBoolArray,
  kFloatArray,
  kInteger,
  kReal,
  kBool,
  kDType,
  kString,
};

enum class Mark : uint8_t { kRead, kWritten, kBoth };

/// What acl/types.tsv says of one argument.
struct Rule {
  uint64_t types = 0;  ///< bit n: elements of the DType numbered n are taken; 0: of any
  int8_t same = -1;    ///< a dtype argument: the parameter whose element type it must name
  int8_t low = 0;      ///< a number: what it may be, where low < high
  int8_t high = 0;

  bool takes(DType dtype) const { return types == 0 || (types >> static_cast<int>(dtype) & 1) != 0; }
};

struct Parameter {
  const char* name;
  const char* word;  ///< as the table spells it: "tensor[]", "i8"
  Word kind;
  Mark mark;
  bool ignored;           ///< a leading underscore in the table: the operator does not see it
  bool optional = false;  ///< a question mark in the table: may be null
  Rule rule = {};
};

/// One argument of one call; its Parameter says which member counts.
union Argument {
  const void* pointer;
  int64_t integer;
  double real;
  Argument(const void* p) : pointer(p) {}                        // NOLINT: generated code lists arguments
  Argument(int64_t v) : integer(v) {}                            // NOLINT
  Argument(int32_t v) : integer(v) {}                            // NOLINT
  Argument(int8_t v) : integer(v) {}                             // NOLINT
  Argument(uint64_t v) : integer(static_cast<int64_t>(v)) {}     // NOLINT
  Argument(bool v) : integer(v) {}                               // NOLINT
  Argument(aclDataType v) : integer(static_cast<int64_t>(v)) {}  // NOLINT
  Argument(double v) : real(v) {}                                // NOLINT
  Argument(float v) : real(static_cast<double>(v)) {}            // NOLINT
};

}  // namespace npu::acl
