// SPDX-License-Identifier: Apache-2.0
// A row of acl/aclnn/functions/*.tsv as the generator emits it, and its plan: which argument goes to which field of
// which operator. The plan is made at the first use and kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/aclnn/object.h"
#include "ops/operator.h"

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

/// How one argument reaches one field.
struct Step {
  size_t parameter;
  const ops::Field* field;
  void (*assign)(const Argument&, void* member);
  bool spread;    ///< foreach rows: member i of the list goes to operator i
  bool slice;     ///< foreach rows: element i of the tensor goes to operator i (bind `value=values[]`)
  Word kind;      ///< of what is assigned: the list's member when spread
  bool required;  ///< null is refused with 161001
};

struct Plan {
  const ops::OperatorDef* def = nullptr;
  bool foreach = false;
  bool has_value_rules = false;  ///< some number or dtype has a Rule
  std::vector<Step> steps;
  std::vector<const ops::Field*> constants;  ///< fields copied from `prototype`
  std::unique_ptr<ops::Operator> prototype;
  std::string problem;  ///< why the row cannot be called; empty when it can
};

struct Row {
  const char* name;           ///< aclnnAdd
  const char* family;         ///< the table's file: math, reduce …
  const char* operator_name;  ///< "add", "foreach:add"
  const char* bind;
  const char* arguments;  ///< as in the table
  std::span<const Parameter> parameters;
  mutable std::atomic<const Plan*> resolved{nullptr};

  /// Never null, never raises for a bad row: see Plan::problem. Safe from any thread.
  const Plan& plan() const;
};

/// Every row, family by family (generated).
std::span<const std::span<const Row>> row_families();
/// Every row, by name.
std::vector<const Row*> all_rows();

/// Makes a plan without keeping it.
std::unique_ptr<Plan> resolve(const Row& row);

}  // namespace npu::acl
