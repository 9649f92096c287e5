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

#include "acl/aclnn/assign.h"

namespace npu::acl {

/// How one argument reaches one field.
struct Step {
  size_t parameter;
  const ops::Field* field;
  Assign assign;
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
