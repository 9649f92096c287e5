// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/tensor/twin.h"

#include <cstdio>
#include <cstring>
#include <protozero/pbf_writer.hpp>

#include "adapters/tensorflow/c_api/message.h"
#include "adapters/tensorflow/tensor/handle.h"

namespace npu::tensorflow {
namespace {

/// The name by which TensorFlow knows a variable that no name finds.
constexpr const char* kAnonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

std::string text_value(const char* text) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_string(field::kText, text);
  return bytes;
}

std::string unknown_shape() {
  std::string shape, bytes;
  protozero::pbf_writer(shape).add_bool(field::kUnknownRank, true);
  protozero::pbf_writer(bytes).add_message(field::kShape, shape);
  return bytes;
}

TensorHandle new_twin(TFE_Context* context, TF_DataType type) {
  const std::vector<Attribute> attributes = {{"dtype", type_value(type)},
                                             {"shape", unknown_shape()},
                                             {"shared_name", text_value(kAnonymous)},
                                             {"container", text_value("")}};
  return std::move(run_on_host(context, "VarHandleOp", nullptr, attributes, {}, 1).front());
}

TensorHandle read_twin(TFE_Context* context, TFE_TensorHandle* twin, TF_DataType type) {
  const std::vector<Attribute> attributes = {{"dtype", type_value(type)}};
  return std::move(run_on_host(context, "ReadVariableOp", nullptr, attributes, {&twin, 1}, 1).front());
}

void assign_twin(TFE_Context* context, TFE_TensorHandle* twin, TF_DataType type, TFE_TensorHandle* value) {
  const std::vector<Attribute> attributes = {{"dtype", type_value(type)}};
  TFE_TensorHandle* const inputs[] = {twin, value};
  run_on_host(context, "AssignVariableOp", nullptr, attributes, inputs, 0);
}

/// A twin that has become the variable itself.
struct Home {
  TFE_Context* context;
  TensorHandle twin;
  TF_DataType type;

  int load(anynpu_value** value) const {
    try {
      *value = value_of(read_twin(context, twin.get(), type).get(), "").release();
      return 0;
    } catch (const std::exception&) {
      return 1;
    }
  }
  int store(anynpu_value* value) const {
    try {
      assign_twin(context, twin.get(), type, host_handle(context, value).get());
      return 0;
    } catch (const std::exception&) {
      return 1;
    }
  }
};

TFE_TensorHandle* move_home(TFE_Context* context, anynpu_value* variable, TensorHandle twin, TF_DataType type) {
  auto* home = new Home{context, std::move(twin), type};
  anynpu_variable_home door{};
  door.context = home;
  door.load = [](void* self, anynpu_value** value) { return static_cast<Home*>(self)->load(value); };
  door.store = [](void* self, anynpu_value* value) { return static_cast<Home*>(self)->store(value); };
  door.release = [](void* self) { delete static_cast<Home*>(self); };
  check_engine(anynpu_variable_move(variable, &door));
  return home->twin.get();
}

void warn_once(const char* op) {
  static bool warned = false;
  if (std::exchange(warned, true)) return;
  std::fprintf(
      stderr,
      "npu_device: %s captures a variable; it lives on the host from now on, where the data set can see it, and "
      "every use on the NPU goes there. Pass its value to the data set to keep it on the NPU.\n",
      op);
}

/// The inputs of one node of the host as handles of the host.
class HostInputs {
 public:
  HostInputs(TFE_Context* context, const char* op, std::span<anynpu_value* const> inputs);
  std::span<TFE_TensorHandle* const> handles() const { return raw_; }
  /// Brings what the node wrote back to the variables.
  void give_back();

 private:
  TFE_TensorHandle* variable(const char* op, anynpu_value* value);

  TFE_Context* context_;
  std::vector<TensorHandle> owned_;
  std::vector<TFE_TensorHandle*> raw_;
  struct Lent {
    anynpu_value* variable;
    TFE_TensorHandle* twin;
    TF_DataType type;
  };
  std::vector<Lent> lent_;
};

HostInputs::HostInputs(TFE_Context* context, const char* op, std::span<anynpu_value* const> inputs)
    : context_(context) {
  for (anynpu_value* input : inputs) {
    if (inspect(input).kind == ANYNPU_VARIABLE)
      raw_.push_back(variable(op, input));
    else
      raw_.push_back(owned_.emplace_back(host_handle(context_, input)).get());
  }
}

TFE_TensorHandle* HostInputs::variable(const char* op, anynpu_value* value) {
  const anynpu_value_view view = inspect(value);
  if (view.object != nullptr) return static_cast<Home*>(view.object)->twin.get();
  anynpu_value* now = nullptr;
  check_engine(anynpu_variable_read(value, &now));
  const Value held(now);
  const TensorHandle current = host_handle(context_, now);
  const TF_DataType type = TFE_TensorHandleDataType(current.get());
  TensorHandle twin = new_twin(context_, type);
  if (std::strstr(op, "Dataset") != nullptr) {
    warn_once(op);
    return move_home(context_, value, std::move(twin), type);
  }
  assign_twin(context_, twin.get(), type, current.get());
  lent_.push_back({value, twin.get(), type});
  return owned_.emplace_back(std::move(twin)).get();
}

void HostInputs::give_back() {
  for (const auto& [variable, twin, type] : lent_) {
    const Value value = value_of(read_twin(context_, twin, type).get(), "");
    check_engine(anynpu_variable_assign(variable, value.get()));
  }
}

}  // namespace

std::vector<Value> run_values_on_host(TFE_Context* context, const char* op, const TFE_OpAttrs* attributes,
                                      std::span<const Attribute> more, std::span<anynpu_value* const> inputs,
                                      size_t output_count, const std::string& device) {
  HostInputs in(context, op, inputs);
  std::vector<Value> outputs =
      values_of(run_on_host(context, op, attributes, more, in.handles(), output_count), device);
  in.give_back();
  return outputs;
}

}  // namespace npu::tensorflow
