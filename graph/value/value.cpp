// SPDX-License-Identifier: Apache-2.0
#include "graph/value/value.h"

#include "base/error.h"
#include "device/memory/memory.h"
#include "graph/value/room.h"
#include "ops/runner/call.h"

namespace npu::graph {

namespace {

/// Gives memory back to the device; its type tells our memory from a client's.
struct Deallocate {
  void operator()(const void* block) const noexcept {
    try {
      device::deallocate(const_cast<void*>(block));
    } catch (const Error&) {
      // In a forked child the memory is its parent's.
    }
  }
};

}  // namespace

Value make_value(int device, DType dtype, const Dims& shape) {
  const auto bytes = static_cast<size_t>(room_of(dtype, shape));
  void* block = device::allocate(device, bytes);
  Value value;
  value.owner = std::shared_ptr<const void>(block, Deallocate{});
  value.tensor = make_tensor(device::resolve(block, bytes), dtype, shape);
  return value;
}

Value copy_of(int device, const Tensor& tensor) {
  Value value = make_value(device, tensor.dtype, tensor.shape);
  ops::Call("copy").set("self", ops::Operand{tensor, {}}).set("out", value.tensor).run();
  return value;
}

std::string Variable::traits() const {
  const Value value = peek();
  if (value.object) return value.object->traits();
  return value.tensor.defined() ? to_string(value.tensor) : "uninitialized";
}

void Variable::move_to(std::shared_ptr<Home> home) {
  const std::lock_guard lock(mutex_);
  if (value_.tensor.defined() || value_.object) home->store(value_);
  home_ = std::move(home);
}

std::shared_ptr<Variable::Home> Variable::home() const {
  const std::lock_guard lock(mutex_);
  return home_;
}

Value Variable::peek() const {
  const std::lock_guard lock(mutex_);
  return home_ ? home_->load() : value_;
}

void Variable::add_traits(std::string& key) const {
  if (const Value value = peek(); value.object) value.object->add_traits(key);
}

Tensor Variable::meta() const {
  Tensor meta = peek().tensor;
  meta.data = nullptr;
  return meta;
}

bool Variable::initialized() const {
  const Value value = peek();
  return value.tensor.defined() || value.object;
}

bool Variable::holds_object() const { return peek().object != nullptr; }

void Variable::check_initialized() const {
  if (!value_.tensor.defined() && !value_.object)
    fail(Code::kUninitialized, "the variable was read before anything was assigned to it; initialize it first");
}

Value Variable::read() const {
  const std::lock_guard lock(mutex_);
  if (home_) return home_->load();
  check_initialized();
  return value_;
}

void Variable::assign(Value value) {
  const std::lock_guard lock(mutex_);
  if (home_) home_->store(value);
  std::swap(value_, value);
}

void Variable::clear() { assign({}); }

void Variable::make_exclusive() {
  check_initialized();
  if (value_.object) fail(Code::kNnInvalidParam, "the variable holds a {}; it takes numbers", value_.object->traits());
  // A client's memory is never written to, even when the client no longer holds the value: it may be part of more.
  const bool ours = std::get_deleter<Deallocate>(value_.owner) != nullptr;
  if (!ours || value_.owner.use_count() != 1) value_ = copy_of(device_, value_.tensor);
}

}  // namespace npu::graph
