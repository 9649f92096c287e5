// SPDX-License-Identifier: Apache-2.0
#include "anynpu/graph.h"

#include <fmt/ranges.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "acl/graph/operator_cache.h"
#include "acl/runtime/call.h"
#include "device/soc.h"
#include "device/state.h"
#include "graph/executable.h"
#include "graph/import/tensorflow/ir_type.h"
#include "graph/import/tensorflow/reader.h"
#include "graph/library.h"
#include "graph/lowering.h"
#include "graph/node_error.h"
#include "graph/passes/fusion_switch.h"
#include "graph/precision/list.h"
#include "graph/report.h"
#include "graph/saturation.h"
#include "graph/tensor_list.h"
#include "graph/value.h"

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

struct anynpu_node {
  const npu::graph::Node& node;
};

struct anynpu_library {
  anynpu_library(int device, npu::graph::tensorflow::Bytes op_list, npu::graph::HostNode host)
      : catalogue(op_list), library(device, std::move(host)) {}
  npu::graph::tensorflow::Catalogue catalogue;
  npu::graph::Library library;
  npu::acl::OperatorCache operators{library, catalogue};
};

namespace npu::acl {
namespace {

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

thread_local std::optional<graph::NodeError> last_failure;

anynpu_value* wrapped(Value value) {
  auto* out = new anynpu_value;
  out->value = std::move(value);
  return out;
}

void ClientHome::store(const Value& value) {
  anynpu_value* door = wrapped(value);
  const int code = home_.store(home_.context, door);
  anynpu_value_release(door);
  if (code != 0) fail(Code::kNnRuntime, "the client cannot assign to the variable it keeps");
}

graph::tensorflow::Bytes bytes_of(const void* data, size_t size, const char* argument) {
  return {static_cast<const char*>(given(const_cast<void*>(data), argument)), size};
}

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

graph::Variable& variable_of(const anynpu_value* value, const char* argument) {
  auto* variable =
      dynamic_cast<graph::Variable*>(given(const_cast<anynpu_value*>(value), argument)->value.object.get());
  require(variable != nullptr, "{} is no variable; make one with anynpu_value_variable", argument);
  return *variable;
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

/// The callback as the engine calls it.
graph::HostNode host_node(anynpu_host host, void* context) {
  if (host == nullptr) return {};
  return [host, context](const graph::Node& node, std::span<const Value> inputs) {
    std::vector<anynpu_value*> in, out(node.outputs.size());
    for (const Value& input : inputs) in.push_back(wrapped(input));
    const anynpu_node door{node};
    const char* error = nullptr;
    const int code = host(context, &door, in.data(), in.size(), out.data(), out.size(), &error);
    for (anynpu_value* value : in) anynpu_value_release(value);
    std::vector<Value> values;
    for (anynpu_value* value : out) {
      values.push_back(value == nullptr ? Value{} : value->value);
      anynpu_value_release(value);
    }
    if (code != 0) fail(Code::kNnRuntime, "{}", error == nullptr ? "the client gave no reason" : error);
    return values;
  };
}

/// Runs `body` and keeps the node that failed.
template <class Body>
aclError run_call(const char* function, Body&& body) {
  last_failure.reset();
  return call(function, [&] {
    try {
      body();
    } catch (const graph::NodeError& e) {
      last_failure = e;
      throw;
    }
  });
}

anynpu_value_kind kind_of(const Value& value) {
  const graph::Object* object = value.object.get();
  if (object == nullptr) return ANYNPU_TENSOR;
  if (dynamic_cast<const ClientObject*>(object) != nullptr) return ANYNPU_OBJECT;
  if (dynamic_cast<const graph::Variable*>(object) != nullptr) return ANYNPU_VARIABLE;
  return dynamic_cast<const graph::StringTensor*>(object) != nullptr ? ANYNPU_STRINGS : ANYNPU_OTHER;
}

void inspect(anynpu_value& value, anynpu_value_view& view) {
  require(view.struct_size >= sizeof view, "view.struct_size is {}; set it to sizeof(anynpu_value_view), {}",
          view.struct_size, sizeof view);
  view.kind = kind_of(value.value);
  view.object = nullptr;
  const Tensor* tensor = &value.value.tensor;
  if (view.kind == ANYNPU_VARIABLE) {
    const graph::Variable& variable = variable_of(&value, "value");
    const auto home = std::static_pointer_cast<ClientHome>(variable.home());
    if (home) view.object = home->context();
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
    npu::require(kind != ANYNPU_VARIABLE && kind != ANYNPU_OTHER, "tensor is an object of the engine's own (kind {})",
                 static_cast<int>(kind));
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

aclError anynpu_value_inspect(const anynpu_value* value, anynpu_value_view* view) {
  return call("anynpu_value_inspect",
              [&] { npu::acl::inspect(*given(const_cast<anynpu_value*>(value), "value"), *given(view, "view")); });
}

const char* anynpu_value_string(const anynpu_value* value, size_t index, size_t* length) {
  const auto* strings =
      value == nullptr ? nullptr : dynamic_cast<const npu::graph::StringTensor*>(value->value.object.get());
  if (strings == nullptr || index >= strings->literal().strings->size()) return nullptr;
  const std::string& text = (*strings->literal().strings)[index];
  if (length != nullptr) *length = text.size();
  return text.data();
}

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

anynpu_value* anynpu_value_retain(anynpu_value* value) {
  if (value != nullptr) ++value->holders;
  return value;
}

void anynpu_value_release(anynpu_value* value) {
  if (value != nullptr && --value->holders == 0) delete value;
}

const char* anynpu_node_operator(const anynpu_node* node) { return node->node.op.c_str(); }

const char* anynpu_node_name(const anynpu_node* node) { return node->node.client_name.c_str(); }

void anynpu_node_each_attribute(const anynpu_node* node,
                                void (*visit)(const char* name, const void* bytes, size_t size, void* context),
                                void* context) {
  for (const auto& [name, entry] : node->node.attributes.entries())
    if (!entry.raw.empty()) visit(name.c_str(), entry.raw.data(), entry.raw.size(), context);
}

aclError anynpu_library_create(int32_t device, const void* op_list, size_t size, anynpu_host host, void* context,
                               anynpu_library** library) {
  return call("anynpu_library_create", [&] {
    npu::device::check_device(device);
    result(library, "library") =
        new anynpu_library(device, npu::acl::bytes_of(op_list, size, "op_list"), npu::acl::host_node(host, context));
  });
}

void anynpu_library_destroy(anynpu_library* library) { delete library; }

aclError anynpu_library_add(anynpu_library* library, const void* function_def, size_t size) {
  return call("anynpu_library_add", [&] {
    anynpu_library& live = *given(library, "library");
    npu::graph::Program program;
    program.add(npu::graph::tensorflow::read_function(npu::acl::bytes_of(function_def, size, "function_def"),
                                                      live.catalogue, live.library.program()));
    live.library.add(program);
  });
}

aclError anynpu_library_remove(anynpu_library* library, const char* function) {
  return call("anynpu_library_remove", [&] {
    anynpu_library& live = *given(library, "library");
    live.library.remove(given(function, "function"));
    live.library.report().retire(function);
  });
}

aclError anynpu_library_run(anynpu_library* library, const char* function, anynpu_value* const* inputs,
                            size_t input_count, anynpu_value** outputs, size_t output_count) {
  return npu::acl::run_call("anynpu_library_run", [&] {
    const auto values = npu::acl::values_of(inputs, input_count, "inputs");
    auto& functions = given(library, "library")->library;
    npu::acl::give(functions.get(given(function, "function"), npu::graph::Role::kRoot)->run(values), outputs,
                   output_count);
  });
}

aclError anynpu_library_run_node(anynpu_library* library, const void* node_def, size_t size,
                                 anynpu_value* const* inputs, size_t input_count, anynpu_value** outputs,
                                 size_t output_count) {
  return npu::acl::run_call("anynpu_library_run_node", [&] {
    anynpu_library& live = *given(library, "library");
    const auto values = npu::acl::values_of(inputs, input_count, "inputs");
    const auto one = live.operators.get(npu::acl::bytes_of(node_def, size, "node_def"), values);
    try {
      npu::acl::give(one->run(values), outputs, output_count);
    } catch (npu::graph::NodeError& e) {
      e.drop_outermost();  // the function that we made of the operator
      throw;
    }
  });
}

aclError anynpu_library_compile(anynpu_library* library, const char* function, anynpu_value* const* inputs,
                                size_t input_count) {
  return npu::acl::run_call("anynpu_library_compile", [&] {
    const auto values = npu::acl::values_of(inputs, input_count, "inputs");
    auto& functions = given(library, "library")->library;
    functions.get(given(function, "function"), npu::graph::Role::kRoot)->compile(values);
  });
}

void anynpu_library_watch(anynpu_library* library, void (*visit)(const anynpu_compiled* compiled, void* context),
                          void* context) {
  if (library == nullptr) return;
  if (visit == nullptr) return library->library.report().watch({});
  library->library.report().watch([visit, context](const npu::graph::Compiled& one) {
    const anynpu_compiled out{sizeof(out), one.function.c_str(), one.graph,
                              one.plan,    one.cause.c_str(),    one.milliseconds,
                              one.nodes,   one.host_nodes,       one.loops};
    visit(&out, context);
  });
}

aclError anynpu_library_switch_fusion(anynpu_library* library, const char* text, size_t size,
                                      void (*unknown)(const char* name, void* context), void* context) {
  return call("anynpu_library_switch_fusion", [&] {
    auto& live = given(library, "library")->library;
    npu::graph::FusionSwitch read = npu::graph::read_fusion_switch({given(text, "text"), size});
    live.switch_off(std::move(read.off));
    for (const std::string& name : read.unknown)
      if (unknown != nullptr) unknown(name.c_str(), context);
  });
}

void anynpu_each_fusion(void (*visit)(const char* name, const char* purpose, const char* aliases, void* context),
                        void* context) {
  for (const npu::graph::Pass& pass : npu::graph::all_passes()) {
    if (pass.group == npu::graph::FusionGroup::kNone) continue;
    const std::string aliases = fmt::format("{}", fmt::join(pass.aliases, ", "));
    visit(std::string(pass.name).c_str(), std::string(pass.purpose).c_str(), aliases.c_str(), context);
  }
}

void anynpu_library_fusions(anynpu_library* library, void (*visit)(const char* json, void* context), void* context) {
  if (library != nullptr && visit != nullptr) visit(library->library.report().fusion_json().c_str(), context);
}

void anynpu_export_fusions(const char* file) { npu::graph::export_fusions(file == nullptr ? "" : file); }

aclError anynpu_library_set_precision(anynpu_library* library, const char* option, const char* value, size_t size,
                                      void (*notice)(const char* text, void* context), void* context) {
  return call("anynpu_library_set_precision", [&] {
    auto& live = given(library, "library")->library;
    for (const std::string& text : live.set_precision(given(option, "option"), {given(value, "value"), size}))
      if (notice != nullptr) notice(text.c_str(), context);
  });
}

void anynpu_each_operator_precision(void (*visit)(const anynpu_operator_precision* one, void* context), void* context) {
  for (const npu::graph::OperatorPrecision& row : npu::graph::all_precision()) {
    const std::string op(row.op), aliases(npu::graph::tensorflow::ir_types(row.op));
    std::string dtypes;
    for (const npu::DType dtype : row.dtypes) dtypes += (dtypes.empty() ? "" : " ") + std::string(npu::name_of(dtype));
    const anynpu_operator_precision out{sizeof(out),
                                        op.c_str(),
                                        aliases.c_str(),
                                        npu::graph::to_string(row.unit).data(),
                                        npu::graph::to_string(row.list).data(),
                                        dtypes.c_str()};
    visit(&out, context);
  }
}

aclError anynpu_each_precision_effect(const char* mode,
                                      void (*visit)(const anynpu_precision_effect* one, void* context), void* context) {
  return call("anynpu_each_precision_effect", [&] {
    const npu::graph::PrecisionMode found = npu::graph::find_mode(given(mode, "mode"));
    given(visit, "visit");
    for (const npu::graph::OperatorPrecision& row : npu::graph::all_precision()) {
      const std::string op(row.op), effect = npu::graph::effect_of(found, row);
      const anynpu_precision_effect out{sizeof(out), op.c_str(), effect.c_str()};
      visit(&out, context);
    }
  });
}

void anynpu_library_restart_random(anynpu_library* library) {
  if (library != nullptr) library->library.restart_states();
}

aclError anynpu_saturate(int32_t device, const char* type, anynpu_value* const* inputs, size_t input_count,
                         anynpu_value** results, size_t result_count) {
  return call("anynpu_saturate", [&] {
    npu::device::check_device(device);
    given(type, "type");
    const auto in = npu::acl::values_of(inputs, input_count, "inputs");
    auto out = npu::acl::values_of(results, result_count, "results");
    const auto describe = [](const void* op, npu::device::Overflow& overflow) {
      overflow.node = static_cast<const char*>(op);
      overflow.type = npu::graph::tensorflow::ir_type(overflow.node);
    };
    npu::ops::run_on(device, nullptr, {describe, type}, [&] { npu::graph::saturate_from_host(device, in, out); });
    for (size_t i = 0; i < result_count; ++i) {
      if (out[i].tensor.data == results[i]->value.tensor.data) continue;
      anynpu_value_release(results[i]);
      results[i] = wrapped(std::move(out[i]));
    }
  });
}

void anynpu_live(size_t* variables, size_t* values) {
  if (variables != nullptr) *variables = npu::graph::Variable::live();
  if (values != nullptr) *values = anynpu_value::live;
}

void anynpu_library_report(anynpu_library* library, void (*visit)(const char* json, void* context), void* context) {
  if (library != nullptr && visit != nullptr) visit(library->library.report().json().c_str(), context);
}

void anynpu_each_node_kind(void (*visit)(const char* op, void* context), void* context) {
  for (const std::string_view op : npu::graph::all_kinds())
    if (!op.starts_with("_Fused")) visit(std::string(op).c_str(), context);  // those are no client's
}

void anynpu_each_failed(void (*visit)(const char* name, int is_node, const char* text, void* context), void* context) {
  const auto& failure = npu::acl::last_failure;
  if (!failure) return;
  for (const std::string& function : failure->functions()) visit(function.c_str(), 0, "", context);
  visit(failure->node().c_str(), 1, failure->plain().c_str(), context);
}

}  // extern "C"
