// SPDX-License-Identifier: Apache-2.0
// What the functions of the bind column take and give.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "acl/singleop/value.h"

namespace npu::acl {

/// An argument of a function: its name in the table, and what the client gave.
struct NamedValue {
  std::string_view name;
  Value value;
};
using Arguments = std::vector<NamedValue>;

/// Raise 100000 where the argument is anything else, or its numbers are not known yet.
const Tensor& tensor_of(const NamedValue& argument);
std::vector<int64_t> list_of(const NamedValue& argument);
int64_t number_of(const NamedValue& argument);
/// One of the axes of `x`; negative ones count from the last.
size_t axis_of(const NamedValue& argument, const Tensor& x);

/// A view of the tensor that `from` holds.
Value tensor_value(Tensor tensor, const NamedValue& from);
Value list_value(std::vector<int64_t> list);
Value real_value(float number);

}  // namespace npu::acl
