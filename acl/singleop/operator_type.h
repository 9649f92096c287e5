// SPDX-License-Identifier: Apache-2.0
// The operator types that aclopCompileAndExecute knows: the rows of operator_types.tsv, read at the first use.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/operator.h"

namespace npu::acl {

/// One input or output of a type, in the client's order.
struct Slot {
  enum class Use {
    kRead,     ///< a field takes it
    kIgnored,  ///< `_name`: what it says is known from elsewhere
    kRefused,  ///< `!name`: an optional input of a form that is not built
  };
  std::string_view name;
  Use use = Use::kRead;
  bool optional = false;  ///< `name?`: may be left out, at the end altogether
  bool list = false;      ///< `name*`: any number of tensors
  bool memory = false;    ///< what its memory holds counts, not its sizes: strided() reads it
};

/// One attribute of a type. An attribute that is not listed is refused, unless it is a compiler's hint (`_name`).
struct AttributeRule {
  std::string_view name;
  bool ignored = false;         ///< `_name`: without effect here
  std::string_view value = {};  ///< `name:value`: what it is where the client leaves it out
  bool fixed = false;           ///< `name=value`: nothing else is built
};

/// How a field of the operator is filled: `field=name`, `field='constant'`, or `field=function(name,…)`.
struct FieldSource {
  const ops::Field* field;
  std::string_view function;  ///< empty: the value itself
  std::vector<std::string_view> names;
  bool constant = false;
};

struct OperatorType {
  std::string_view type;  ///< Identity, Add …
  const ops::OperatorDef* def = nullptr;
  std::vector<Slot> inputs, outputs;
  std::vector<AttributeRule> attributes;
  std::vector<FieldSource> fields;
};

/// The rows of a type, in the order of the table; none for an unknown type. Several differ in their fixed attributes.
std::vector<const OperatorType*> find_operator_type(std::string_view type);

/// Every known type by its first row, in the order of the alphabet.
std::vector<const OperatorType*> operator_types();

/// The known types whose spelling is near `type`, for error texts; or how many there are.
std::string types_like(std::string_view type);

/// Reads a row. Raises 161002 when it makes no sense: a name that nothing has, an operator or a field that is not
/// there.
OperatorType parse_type(std::string_view type, std::string_view inputs, std::string_view outputs,
                        std::string_view attributes, std::string_view name, std::string_view bind);

}  // namespace npu::acl
