// SPDX-License-Identifier: Apache-2.0
// What an input, an output or an attribute of a single-operator call says, and how it becomes a field of an operator.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acl/singleop/description.h"
#include "base/tensor.h"
#include "ops/operator.h"

namespace npu::acl {

/// A text of the table: a constant, or the default of an attribute.
struct TableText {
  std::string_view text;
};

struct Value {
  /// Nothing where the client left it out.
  std::variant<std::monostate, Tensor, std::vector<Tensor>, TableText, aclopAttr::Value> content;
  bool host = false;     ///< the elements of the tensor can be read now
  bool blocked = false;  ///< its elements are copied from blocks when the work runs, and known no sooner

  bool given() const { return !std::holds_alternative<std::monostate>(content); }
  const Tensor* tensor() const { return std::get_if<Tensor>(&content); }
};

/// Whole numbers of a list attribute, a number, a text of the table, or a tensor of the host. Raises 100000 for
/// anything else; `what` names it.
std::vector<int64_t> integers_of(const Value& value, std::string_view what);
bool truth_of(const Value& value, std::string_view what);
double real_of(const Value& value, std::string_view what);
std::string word_of(const Value& value, std::string_view what);

/// Puts `value` into a field. Raises 100000 where it does not fit; `what` names it.
void store(const Value& value, const ops::Field& field, ops::Operator& op, std::string_view what);

/// Whether an attribute has the value that a text of the table spells.
bool equals_text(const aclopAttr::Value& value, std::string_view text);

}  // namespace npu::acl
