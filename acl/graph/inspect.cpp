// SPDX-License-Identifier: Apache-2.0
#include "acl/call.h"
#include "acl/graph/value.h"
#include "acl/graph/variable.h"

namespace npu::acl {
namespace {

void inspect(anynpu_value& value, anynpu_value_view& view) {
  require(view.struct_size >= sizeof view, "view.struct_size is {}; set it to sizeof(anynpu_value_view), {}",
          view.struct_size, sizeof view);
  view.kind = kind_of(value.value);
  view.object = nullptr;
  const Tensor* tensor = &value.value.tensor;
  if (view.kind == ANYNPU_VARIABLE) {
    const graph::Variable& variable = variable_of(&value, "value");
    view.object = home_of(variable);
    value.variable = variable.meta();
    tensor = &value.variable;
  }
  view.dtype = static_cast<aclDataType>(tensor->dtype);
  view.rank = static_cast<int32_t>(tensor->shape.size());
  view.sizes = tensor->shape.data();
  view.data = view.kind == ANYNPU_TENSOR ? tensor->bytes() : nullptr;
  if (const auto* mine = dynamic_cast<const ClientObject*>(value.value.object.get())) view.object = mine->object();
  if (const auto* strings = dynamic_cast<const graph::StringTensor*>(value.value.object.get())) {
    view.dtype = ACL_STRING;
    view.rank = static_cast<int32_t>(strings->literal().shape.size());
    view.sizes = strings->literal().shape.data();
  }
}

}  // namespace
}  // namespace npu::acl

using npu::acl::call;
using npu::acl::given;

extern "C" {

aclError anynpu_value_inspect(const anynpu_value* value, anynpu_value_view* view) {
  return call("anynpu_value_inspect",
              [&] { npu::acl::inspect(*given(const_cast<anynpu_value*>(value), "value"), *given(view, "view")); });
}

}  // extern "C"
