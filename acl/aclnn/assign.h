// SPDX-License-Identifier: Apache-2.0
// Moving values into operator fields: from C arguments, from the constants of a row, from another operator.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "acl/aclnn/argument.h"
#include "ops/operator.h"

namespace npu::acl {

using Assign = void (*)(const Argument&, const ops::Member& member);

/// The function that stores an argument of kind `word` in a field of kind `kind`; null when they do not fit.
Assign assigner(Word word, ops::FieldKind kind);

/// What the members of a list are.
bool is_list(Word word);
Word member_word(Word list);
size_t list_size(Word list, const Argument& argument);
Argument list_member(Word list, const Argument& argument, size_t index);

/// True when the argument is an object pointer, which may be null.
bool is_pointer(Word word);

/// Stores the text of a bind constant: 'none', '1', '1,1', 'true', 'float32'. Raises 161002 when it does not parse.
void assign_text(std::string_view text, const ops::Member& member);

/// The tensors one field holds.
std::vector<Tensor*> field_tensors(const ops::Field& field, ops::Operator& op);

void copy_field(const ops::Field& field, ops::Operator& from, ops::Operator& to);
/// A new operator (or list of them) of the same definition with the same fields, not prepared.
std::unique_ptr<ops::Operator> clone(ops::Operator& from);

std::string_view name_of(ops::FieldKind kind);

}  // namespace npu::acl
