// SPDX-License-Identifier: Apache-2.0
#include "graph/arithmetic.h"

#include <cstring>

#include "base/error.h"
#include "graph/optional.h"
#include "graph/tensor_list.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

Value as_value(std::shared_ptr<Object> object) { return {{}, nullptr, std::move(object)}; }

Value zeros_like(int device, const Tensor& tensor) {
  Value value = make_value(device, tensor.dtype, tensor.shape);
  std::memset(value.tensor.bytes(), 0, static_cast<size_t>(tensor.count()) * size_of(tensor.dtype));
  return value;
}

Value sum_of(int device, const Tensor& a, const Tensor& b) {
  require(a.shape == b.shape && a.dtype == b.dtype, "{} and {} are to be added; they differ in form", a, b);
  Value value = make_value(device, a.dtype, a.shape);
  ops::Call("add").set("self", ops::Operand{a, {}}).set("other", ops::Operand{b, {}}).set("out", value.tensor).run();
  return value;
}

Value zeros_like(int device, const Optional& optional) {
  if (optional.values() == nullptr) return as_value(std::make_shared<Optional>(std::nullopt));
  std::vector<Value> zeros;
  for (const Value& value : *optional.values()) zeros.push_back(graph::zeros_like(device, value));
  return as_value(std::make_shared<Optional>(std::move(zeros)));
}

Value sum_of(int device, const Optional& a, const Optional& b) {
  const std::vector<Value>*x = a.values(), *y = b.values();
  require((x == nullptr) == (y == nullptr), "one of two optionals to be added holds a value, the other holds none");
  if (x == nullptr) return as_value(std::make_shared<Optional>(std::nullopt));
  require(x->size() == y->size(), "optionals of {} and {} values are to be added", x->size(), y->size());
  std::vector<Value> sums;
  for (size_t i = 0; i < x->size(); ++i) sums.push_back(graph::sum_of(device, (*x)[i], (*y)[i]));
  return as_value(std::make_shared<Optional>(std::move(sums)));
}

}  // namespace

Value zeros_like(int device, const Value& value) {
  if (!value.object) return zeros_like(device, value.tensor);
  if (const auto* list = dynamic_cast<const TensorList*>(value.object.get()))
    return as_value(zeros_like(device, *list));
  const auto* optional = dynamic_cast<const Optional*>(value.object.get());
  require(optional != nullptr, "zeros are asked of an object that is neither a list nor an optional");
  return zeros_like(device, *optional);
}

Value sum_of(int device, const Value& a, const Value& b) {
  if (!a.object && !b.object) return sum_of(device, a.tensor, b.tensor);
  const auto *list = dynamic_cast<const TensorList*>(a.object.get()),
             *more = dynamic_cast<const TensorList*>(b.object.get());
  if (list != nullptr && more != nullptr) return as_value(add_lists(device, *list, *more));
  const auto *x = dynamic_cast<const Optional*>(a.object.get()), *y = dynamic_cast<const Optional*>(b.object.get());
  require(x != nullptr && y != nullptr, "two objects are to be added that are neither two lists nor two optionals");
  return sum_of(device, *x, *y);
}

}  // namespace npu::graph
