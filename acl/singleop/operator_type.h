// SPDX-License-Identifier: Apache-2.0
// The operator types that aclopCompileAndExecute knows, as data. Only those that clients reach no other way stand here;
// the graph room has the full list of types.
#pragma once

#include <string_view>

#include "ops/operator.h"

namespace npu::acl {

/// One type: inputs and outputs in the client's order, as fields of the operator.
struct OperatorType {
  std::string_view type;                  ///< Identity, Add …
  std::string_view name;                  ///< of the operator in ops/
  std::vector<std::string_view> inputs;   ///< field names; empty where the operator does not need what the type says
  std::vector<std::string_view> outputs;  ///< field names
  std::vector<std::string_view> numbers = {};  ///< attributes that are one number, with a field of the same name
};

/// Null for an unknown type, or one whose operator is not built.
const OperatorType* find_operator_type(std::string_view type);

/// The known types, separated by commas, for error texts.
std::string known_operator_types();

}  // namespace npu::acl
