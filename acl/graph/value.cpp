// SPDX-License-Identifier: Apache-2.0
#include "acl/graph/value.h"

#include <memory>
#include <span>

#include "acl/call.h"
#include "graph/value/stack.h"
#include "graph/value/tensor_array.h"

namespace npu::acl {

anynpu_value* wrapped(Value value) {
  auto* out = new anynpu_value;
  out->value = std::move(value);
  return out;
}

std::vector<Value> values_of(anynpu_value* const* values, size_t count, const char* argument) {
  std::vector<Value> out;
  for (size_t i = 0; i < count; ++i) out.push_back(given(given(values, argument)[i], argument)->value);
  return out;
}

void give(std::vector<Value> values, anynpu_value** outputs, size_t count) {
  require(values.size() == count, "the function gives {} values; room is there for {}", values.size(), count);
  for (size_t i = 0; i < count; ++i) given(outputs, "outputs")[i] = wrapped(std::move(values[i]));
}

anynpu_value_kind kind_of(const Value& value) {
  const graph::Object* object = value.object.get();
  if (object == nullptr) return ANYNPU_TENSOR;
  if (dynamic_cast<const ClientObject*>(object) != nullptr) return ANYNPU_OBJECT;
  if (dynamic_cast<const graph::Variable*>(object) != nullptr) return ANYNPU_VARIABLE;
  if (dynamic_cast<const graph::StringTensor*>(object) != nullptr) return ANYNPU_STRINGS;
  const bool changes = dynamic_cast<const graph::Stack*>(object) || dynamic_cast<const graph::TensorArray*>(object);
  return changes ? ANYNPU_HANDLE : ANYNPU_OTHER;
}

}  // namespace npu::acl

using npu::acl::call;
using npu::acl::given;
using npu::acl::result;
using npu::acl::wrapped;

extern "C" {

aclError anynpu_value_tensor(aclDataType dtype, int32_t rank, const int64_t* sizes, void* data, void (*release)(void*),
                             void* context, anynpu_value** value) {
  return call("anynpu_value_tensor", [&] {
    npu::require(rank >= 0, "rank is {}", rank);
    const npu::Dims shape(
        std::span<const int64_t>(rank > 0 ? given(sizes, "sizes") : nullptr, static_cast<size_t>(rank)));
    for (const int64_t size : shape) npu::require(size >= 0, "sizes are {}; none may be negative", shape);
    const auto type = static_cast<npu::DType>(dtype);
    npu::require(npu::size_of(type) > 0, "dtype is {}, which has no elements of whole bytes", static_cast<int>(dtype));
    npu::graph::Value made;
    made.tensor = npu::make_tensor(npu::count_of(shape) > 0 ? given(data, "data") : data, type, shape);
    made.owner = std::shared_ptr<const void>(data, [release, context](const void*) {
      if (release != nullptr) release(context);
    });
    result(value, "value") = wrapped(std::move(made));
  });
}

aclError anynpu_value_object(void* object, void (*release)(void*), anynpu_value** value) {
  return call("anynpu_value_object", [&] {
    result(value, "value") = wrapped({{}, nullptr, std::make_shared<npu::acl::ClientObject>(object, release)});
  });
}

const char* anynpu_value_string(const anynpu_value* value, size_t index, size_t* length) {
  const auto* strings =
      value == nullptr ? nullptr : dynamic_cast<const npu::graph::StringTensor*>(value->value.object.get());
  if (strings == nullptr || index >= strings->literal().strings->size()) return nullptr;
  const std::string& text = (*strings->literal().strings)[index];
  if (length != nullptr) *length = text.size();
  return text.data();
}

anynpu_value* anynpu_value_retain(anynpu_value* value) {
  if (value != nullptr) ++value->holders;
  return value;
}

void anynpu_value_release(anynpu_value* value) {
  if (value != nullptr && --value->holders == 0) delete value;
}

void anynpu_live(size_t* variables, size_t* values) {
  if (variables != nullptr) *variables = npu::graph::Variable::live();
  if (values != nullptr) *values = anynpu_value::live;
}

}  // extern "C"
