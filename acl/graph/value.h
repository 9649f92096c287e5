// SPDX-License-Identifier: Apache-2.0
// Values of the door: what a client holds of the engine.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "acl/include/anynpu/graph.h"
#include "graph/value/value.h"

struct anynpu_value {
  anynpu_value() { ++live; }
  ~anynpu_value() { --live; }
  anynpu_value(const anynpu_value&) = delete;
  anynpu_value& operator=(const anynpu_value&) = delete;
  inline static std::atomic<size_t> live{0};
  npu::graph::Value value;
  npu::Tensor variable;  ///< what inspect told last
  std::atomic<int> holders{1};
};

namespace npu::acl {

using graph::Value;

/// Something of the client's, released with its last holder.
class ClientObject final : public graph::Object {
 public:
  ClientObject(void* object, void (*release)(void*)) : object_(object), release_(release) {}
  ~ClientObject() override {
    if (release_ != nullptr) release_(object_);
  }
  std::string traits() const override { return "client"; }
  void* object() const { return object_; }

 private:
  void* object_;
  void (*release_)(void*);
};

/// A value for the client, which releases it.
anynpu_value* wrapped(Value value);
/// Raises 100000 naming `argument` where the list or one of its values is null.
std::vector<Value> values_of(anynpu_value* const* values, size_t count, const char* argument);
/// Gives values to the client. Raises 161002 where there is room for another number of them.
void give(std::vector<Value> values, anynpu_value** outputs, size_t count);
anynpu_value_kind kind_of(const Value& value);

}  // namespace npu::acl
