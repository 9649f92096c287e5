// SPDX-License-Identifier: Apache-2.0
#include "graph/value/arithmetic.h"

#include <cstring>

#include "base/error.h"
#include "graph/value/client_text.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

Value as_value(std::shared_ptr<Object> object) { return {{}, nullptr, std::move(object)}; }

Value zeros_like(int device, const Tensor& tensor) {
  Value value = make_value(device, tensor.dtype, tensor.shape);
  std::memset(value.tensor.bytes(), 0, static_cast<size_t>(bytes_of(tensor)));
  return value;
}

[[noreturn]] void refuse_sum(const Tensor& a, const Tensor& b) {
  const auto first = ValueType::tensor(a.dtype), second = ValueType::tensor(b.dtype);
  require(a.dtype == b.dtype,
          "Trying to add two tensors with incompatible element types. One is {} and the other is {}",
          client_text(first), client_text(second));
  require(a.shape == b.shape,
          "Trying to add two tensors with incompatible element shapes. One is {} and the other is {}",
          client_text(a.shape), client_text(b.shape));
  fail(Code::kNnInvalidParam, "Trying to add unsupported dtype {} ({}); cast the tensors to numbers",
       client_number(first), client_text(first));
}

Value sum_of(int device, const Tensor& a, const Tensor& b) {
  if (a.shape != b.shape || a.dtype != b.dtype || a.dtype == DType::kBool) refuse_sum(a, b);
  Value value = make_value(device, a.dtype, a.shape);
  ops::Call("add").set("self", ops::Operand{a, {}}).set("other", ops::Operand{b, {}}).set("out", value.tensor).run();
  return value;
}

}  // namespace

Value zeros_like(int device, const Value& value) {
  if (!value.object) return zeros_like(device, value.tensor);
  std::shared_ptr<Object> zeros = value.object->zeros(device);
  require(zeros != nullptr, "zeros are asked of an object that is neither a list nor an optional");
  return as_value(std::move(zeros));
}

Value sum_of(int device, const Value& a, const Value& b) {
  if (!a.object && !b.object) return sum_of(device, a.tensor, b.tensor);
  std::shared_ptr<Object> sum = a.object && b.object ? a.object->plus(device, *b.object) : nullptr;
  require(sum != nullptr, "two objects are to be added that are neither two lists nor two optionals");
  return as_value(std::move(sum));
}

}  // namespace npu::graph
