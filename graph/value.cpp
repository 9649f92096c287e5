// SPDX-License-Identifier: Apache-2.0
#include "graph/value.h"

#include "base/error.h"
#include "device/memory.h"
#include "ops/call.h"

namespace npu::graph {

Value make_value(int device, DType dtype, const Dims& shape) {
  const auto bytes = static_cast<size_t>(count_of(shape)) * size_of(dtype);
  void* block = device::allocate(device, bytes);
  Value value;
  value.owner = std::shared_ptr<const void>(block, [](const void* p) { device::deallocate(const_cast<void*>(p)); });
  value.tensor = make_tensor(device::resolve(block, bytes), dtype, shape);
  return value;
}

Value copy_of(int device, const Tensor& tensor) {
  Value value = make_value(device, tensor.dtype, tensor.shape);
  ops::Call("copy").set("self", ops::Operand{tensor, {}}).set("out", value.tensor).run();
  return value;
}

std::string Variable::traits() const {
  const std::lock_guard lock(mutex_);
  return value_.tensor.defined() ? to_string(value_.tensor) : "uninitialized";
}

Tensor Variable::meta() const {
  const std::lock_guard lock(mutex_);
  Tensor meta = value_.tensor;
  meta.data = nullptr;
  return meta;
}

bool Variable::initialized() const { return meta().defined(); }

void Variable::check_initialized() const {
  require(value_.tensor.defined(), "the variable was read before anything was assigned to it; initialize it first");
}

Value Variable::read() const {
  const std::lock_guard lock(mutex_);
  check_initialized();
  return value_;
}

void Variable::assign(Value value) {
  const std::lock_guard lock(mutex_);
  std::swap(value_, value);
}

void Variable::clear() { assign({}); }

void Variable::make_exclusive() {
  check_initialized();
  if (value_.owner.use_count() != 1) value_ = copy_of(device_, value_.tensor);
}

}  // namespace npu::graph
