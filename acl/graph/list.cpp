// SPDX-License-Identifier: Apache-2.0
#include "acl/call.h"
#include "acl/graph/value.h"
#include "graph/value/tensor_list.h"

namespace npu::acl {
namespace {

const graph::TensorList& list_of(const anynpu_value* value) {
  const auto* list =
      dynamic_cast<const graph::TensorList*>(given(const_cast<anynpu_value*>(value), "list")->value.object.get());
  require(list != nullptr, "list is no list of tensors");
  return *list;
}

void inspect(const graph::TensorList& list, anynpu_list_view& view) {
  require(view.struct_size >= sizeof view, "view.struct_size is {}; set it to sizeof(anynpu_list_view), {}",
          view.struct_size, sizeof view);
  const auto& type = list.type;
  const Dims* shape = type.declared.rank_known() ? &*type.declared.dims : nullptr;
  view.dtype = type.element.is_tensor() ? static_cast<aclDataType>(type.element.dtype) : ACL_DT_UNDEFINED;
  view.rank = shape == nullptr ? -1 : static_cast<int32_t>(shape->size());
  view.sizes = shape == nullptr ? nullptr : shape->data();
  view.count = list.elements.size();
}

}  // namespace
}  // namespace npu::acl

using npu::acl::call;
using npu::acl::given;
using npu::acl::result;
using npu::acl::wrapped;

extern "C" {

aclError anynpu_list_inspect(const anynpu_value* list, anynpu_list_view* view) {
  return call("anynpu_list_inspect", [&] { npu::acl::inspect(npu::acl::list_of(list), *given(view, "view")); });
}

aclError anynpu_list_element(const anynpu_value* list, size_t index, anynpu_value** element) {
  return call("anynpu_list_element", [&] {
    const npu::graph::TensorList& from = npu::acl::list_of(list);
    npu::require(index < from.elements.size(), "index is {}; the list has {} elements", index, from.elements.size());
    result(element, "element") = from.is_set(index) ? wrapped(from.elements[index]) : nullptr;
  });
}

}  // extern "C"
