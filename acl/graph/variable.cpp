// SPDX-License-Identifier: Apache-2.0
#include "acl/graph/variable.h"

#include <memory>

#include "acl/call.h"
#include "device/process/soc.h"

namespace npu::acl {
namespace {

/// A variable's value kept by the client.
class ClientHome final : public graph::Variable::Home {
 public:
  explicit ClientHome(const anynpu_variable_home& home) : home_(home) {}
  ~ClientHome() override {
    if (home_.release != nullptr) home_.release(home_.context);
  }
  Value load() const override {
    anynpu_value* value = nullptr;
    if (home_.load(home_.context, &value) != 0 || value == nullptr)
      fail(Code::kUninitialized, "the client cannot read the variable it keeps; is it initialized?");
    Value out = value->value;
    anynpu_value_release(value);
    return out;
  }
  void store(const Value& value) override;
  void* context() const { return home_.context; }

 private:
  const anynpu_variable_home home_;
};

void ClientHome::store(const Value& value) {
  anynpu_value* door = wrapped(value);
  const int code = home_.store(home_.context, door);
  anynpu_value_release(door);
  if (code != 0) fail(Code::kNnRuntime, "the client cannot assign to the variable it keeps");
}

}  // namespace

graph::Variable& variable_of(const anynpu_value* value, const char* argument) {
  auto* variable =
      dynamic_cast<graph::Variable*>(given(const_cast<anynpu_value*>(value), argument)->value.object.get());
  require(variable != nullptr, "{} is no variable; make one with anynpu_value_variable", argument);
  return *variable;
}

void* home_of(const graph::Variable& variable) {
  const auto home = std::static_pointer_cast<ClientHome>(variable.home());
  return home ? home->context() : nullptr;
}

}  // namespace npu::acl

using npu::acl::call;
using npu::acl::given;
using npu::acl::result;
using npu::acl::wrapped;

extern "C" {

aclError anynpu_value_variable(int32_t device, anynpu_value** value) {
  return call("anynpu_value_variable", [&] {
    npu::device::check_device(device);
    result(value, "value") = wrapped({{}, nullptr, std::make_shared<npu::graph::Variable>(device)});
  });
}

aclError anynpu_variable_read(const anynpu_value* variable, anynpu_value** value) {
  return call("anynpu_variable_read",
              [&] { result(value, "value") = wrapped(npu::acl::variable_of(variable, "variable").read()); });
}

aclError anynpu_variable_assign(anynpu_value* variable, const anynpu_value* tensor) {
  return call("anynpu_variable_assign", [&] {
    const npu::graph::Value& value = given(tensor, "tensor")->value;
    const anynpu_value_kind kind = npu::acl::kind_of(value);
    npu::require(kind != ANYNPU_VARIABLE && kind != ANYNPU_OTHER && kind != ANYNPU_HANDLE,
                 "tensor is an object of the engine's own (kind {})", static_cast<int>(kind));
    npu::acl::variable_of(variable, "variable").assign(value);
  });
}

aclError anynpu_variable_move(anynpu_value* variable, const anynpu_variable_home* home) {
  return call("anynpu_variable_move", [&] {
    const anynpu_variable_home& place = *given(const_cast<anynpu_variable_home*>(home), "home");
    npu::require(place.load != nullptr && place.store != nullptr, "home lacks load or store; both are needed");
    npu::acl::variable_of(variable, "variable").move_to(std::make_shared<npu::acl::ClientHome>(place));
  });
}

}  // extern "C"
