// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/argument.h"

#include "base/error.h"

namespace npu::acl {

const Tensor& tensor_of(const NamedValue& argument) {
  if (argument.value.tensor() == nullptr) fail(Code::kInvalidParam, "{} must be a tensor", argument.name);
  return *argument.value.tensor();
}

std::vector<int64_t> list_of(const NamedValue& argument) { return integers_of(argument.value, argument.name); }

int64_t number_of(const NamedValue& argument) {
  const std::vector<int64_t> list = list_of(argument);
  if (list.size() != 1) fail(Code::kInvalidParam, "{} must be one number, it has {}", argument.name, list.size());
  return list.front();
}

size_t axis_of(const NamedValue& argument, const Tensor& x) {
  const int64_t axis = number_of(argument), rank = static_cast<int64_t>(x.rank());
  if (axis < -rank || axis >= rank) fail(Code::kInvalidParam, "{} is {}; {} has {} axes", argument.name, axis, x, rank);
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

Value tensor_value(Tensor tensor, const NamedValue& from) {
  return {.content = std::move(tensor), .host = from.value.host};
}
Value list_value(std::vector<int64_t> list) { return {.content = aclopAttr::Value(std::move(list))}; }
Value real_value(float number) { return {.content = aclopAttr::Value(number)}; }

}  // namespace npu::acl
