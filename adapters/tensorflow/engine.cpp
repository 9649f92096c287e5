// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/engine.h"

#include <acl/acl.h>
#include <aclnn/acl_meta.h>
#include <anynpu/error.h>
#include <anynpu/settings.h>

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "adapters/tensorflow/c_api/function_def.h"
#include "adapters/tensorflow/c_api/message.h"
#include "adapters/tensorflow/host/python_thread.h"
#include "adapters/tensorflow/input/iterator.h"
#include "adapters/tensorflow/tensor/dtype.h"
#include "adapters/tensorflow/tensor/handle.h"

namespace npu::tensorflow {
namespace {

/// The context of the call this thread is in, and what TensorFlow said when a node failed on the host.
thread_local TFE_Context* current_context = nullptr;
thread_local TF_Code host_code = TF_OK;
thread_local std::string host_text;

std::string_view bytes_of(const Buffer& buffer) { return {static_cast<const char*>(buffer->data), buffer->length}; }

constexpr aclError kStreamSyncTimeout = 507046;

/// TensorFlow's code for one of ours.
TF_Code code_of(aclError code) {
  switch (code) {
    case ACL_ERROR_UNINITIALIZE: return TF_FAILED_PRECONDITION;
    case ACL_ERROR_INVALID_PARAM:
    case ACL_ERROR_RT_PARAM_INVALID:
    case ACLNN_ERR_PARAM_NULLPTR:
    case ACLNN_ERR_PARAM_INVALID: return TF_INVALID_ARGUMENT;
    case ACL_ERROR_OP_NOT_FOUND:
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT: return TF_UNIMPLEMENTED;
    case ACL_ERROR_BAD_ALLOC:
    case ACL_ERROR_RT_MEMORY_ALLOCATION: return TF_RESOURCE_EXHAUSTED;
    case kStreamSyncTimeout: return TF_DEADLINE_EXCEEDED;
    case ACLNN_ERR_RUNTIME_ERROR: return host_code == TF_OK ? TF_INTERNAL : host_code;
    default: return TF_INTERNAL;
  }
}

/// TensorFlow shows the user's own lines when a message names the functions and the node in its way. Slices of sessions
/// (with a '@') are no functions of the user's: the node is one of the graph.
std::string located_reason() {
  struct Place {
    std::string functions, node, text;
    bool in_slice = false;
  } place;
  anynpu_each_failed(
      [](const char* name, int is_node, const char* text, void* context) {
        auto& p = *static_cast<Place*>(context);
        if (is_node == 0 && std::string_view(name).find('@') != std::string_view::npos) {
          p.in_slice = true;
        } else if (is_node == 0) {
          p.functions += "{{function_node " + std::string(name) + "}}";
        } else {
          p.node = name;
          p.text = text;
        }
      },
      &place);
  if (place.node.empty()) return anynpu_recent_reason();
  if (place.functions.empty() && !place.in_slice) return place.text;  // an operator on its own: Python tells which
  if (!place.functions.empty()) place.functions += " ";
  return place.functions + place.text + "\n\t [[{{node " + place.node + "}}]]";
}

bool enters_python(std::string_view op) { return op == "EagerPyFunc" || op == "PyFunc" || op == "PyFuncStateless"; }

std::string node_def_of(const char* op, const std::vector<Attribute>& attributes) {
  std::string bytes;
  protozero::pbf_writer node(bytes);
  node.add_string(field::kNodeName, op);
  node.add_string(field::kNodeOp, op);
  for (const auto& [name, value] : attributes) {
    if (name.starts_with('_')) continue;
    protozero::pbf_writer entry(node, field::kNodeAttr);
    entry.add_string(field::kKey, name);
    entry.add_message(field::kValue, value);
  }
  return bytes;
}

}  // namespace

void check_engine(aclError code) {
  if (code == 0) return;
  throw Failure(code_of(code), anynpu_recent_reason());
}

std::vector<Attribute> attributes_of(const TFE_Op* op) {
  const Buffer buffer(TF_NewBuffer());
  checked(TFE_OpAttrsSerialize, TFE_OpGetAttrs(op), buffer.get());
  std::vector<Attribute> out;
  const std::string_view bytes = bytes_of(buffer);
  protozero::pbf_reader list(bytes.data(), bytes.size());
  while (list.next(field::kFuncAttr)) {
    protozero::pbf_reader entry = list.get_message();
    Attribute attribute;
    while (entry.next()) {
      if (entry.tag() == field::kKey)
        attribute.first = entry.get_string();
      else
        attribute.second = entry.get_string();
    }
    out.push_back(std::move(attribute));
  }
  // They come in any order; equal operators must have equal bytes to be found again.
  std::sort(out.begin(), out.end());
  return out;
}

Engine::Engine(int device, std::string name) : device_(device), name_(std::move(name)) {
  const Buffer operators(TF_GetAllOpList());
  check_engine(anynpu_library_create(device, operators->data, operators->length, host, this, &library_));
  anynpu_each_node_kind([](const char* op, void* kinds) { static_cast<decltype(kinds_)*>(kinds)->insert(op); },
                        &kinds_);
  anynpu_library_watch(library_, FunctionLog::compiled, &log_);
}

Engine::~Engine() { anynpu_library_destroy(library_); }

void Engine::bring(TFE_Context* context, const std::string& function) {
  // Held until all are there: another thread that finds a function brought may run it at once.
  const std::lock_guard lock(mutex_);
  if (brought_.contains(function)) return;
  drop_gone(context);
  bring_with_called(context, function);
}

/// TensorFlow says nothing when it drops a function whose last holder in Python is gone. So, whenever a new one comes,
/// those go that it does not know any more, unless one that it knows calls them.
void Engine::drop_gone(TFE_Context* context) {
  std::set<std::string_view> reached;
  std::vector<std::string_view> next;
  for (const auto& [name, called] : brought_)
    if (TFE_ContextHasFunction(context, name.c_str()) != 0) next.push_back(name);
  while (!next.empty()) {
    const std::string_view name = next.back();
    next.pop_back();
    if (const auto at = brought_.find(name); at != brought_.end() && reached.insert(name).second)
      next.insert(next.end(), at->second.begin(), at->second.end());
  }
  for (auto at = brought_.begin(); at != brought_.end();) {
    const bool gone = !reached.contains(at->first);
    if (gone) check_engine(anynpu_library_remove(library_, at->first.c_str()));
    if (gone) log_.forget(at->first);
    at = gone ? brought_.erase(at) : std::next(at);
  }
}

void Engine::bring_with_called(TFE_Context* context, const std::string& function) {
  // A function that calls itself meets its own name.
  const auto [at, fresh] = brought_.try_emplace(function);
  if (!fresh) return;
  try {
    const Buffer buffer(TF_NewBuffer());
    checked(TFE_ContextGetFunctionDef, context, function.c_str(), buffer.get());
    // The called come first, so that a caller finds them.
    each_called(bytes_of(buffer), [&](const std::string& called) {
      if (TFE_ContextHasFunction(context, called.c_str()) == 0) return;
      at->second.push_back(called);
      bring_with_called(context, called);
    });
    check_engine(anynpu_library_add(library_, buffer->data, buffer->length));
  } catch (...) {
    brought_.erase(at);
    throw;
  }
}

template <class Run>
std::vector<Value> Engine::run(TFE_Context* context, size_t output_count, Run&& run) {
  TFE_Context* outer = std::exchange(current_context, context);
  host_code = TF_OK;
  std::vector<anynpu_value*> raw(output_count);
  const aclError code = run(raw.data());
  current_context = outer;
  if (code != 0) throw Failure(code_of(code), located_reason());
  std::vector<Value> outputs;
  for (anynpu_value* value : raw) outputs.emplace_back(value);
  return outputs;
}

std::vector<Value> Engine::run_function(TFE_Context* context, const char* function, const std::vector<Value>& inputs,
                                        size_t output_count) {
  bring(context, function);
  return run_added(context, function, pointers(inputs), output_count);
}

std::vector<Value> Engine::run_added(TFE_Context* context, const char* function, std::span<anynpu_value* const> inputs,
                                     size_t output_count) {
  Consumption consumption(context, function);
  try {
    return log_.around(function, [&] {
      return run(context, output_count, [&](anynpu_value** outputs) {
        return anynpu_library_run(library_, function, inputs.data(), inputs.size(), outputs, output_count);
      });
    });
  } catch (const Failure& e) {
    consumption.failed(e.what());
    throw;
  }
}

bool Engine::cannot_compile(TFE_Context* context, const char* function, const std::vector<Value>& inputs) {
  static const bool asked = *anynpu_setting_in_force("ENABLE_NETWORK_ANALYSIS_DEBUG") != '\0';
  if (!asked) [[likely]]
    return false;
  try {
    bring(context, function);
    const auto in = pointers(inputs);
    check_engine(anynpu_library_compile(library_, function, in.data(), in.size()));
    return false;
  } catch (const Failure& e) {
    const std::string text = e.what();
    NPU_TF_LOG(kError, "Failed to compile ", function, ", it runs on the host: ", text.substr(0, text.find('\n')));
    return true;
  }
}

std::vector<Value> Engine::run_operator(TFE_Context* context, const TFE_Op* op, const std::vector<Value>& inputs,
                                        size_t output_count) {
  const std::vector<Attribute> attributes = attributes_of(op);
  for (const auto& [name, value] : attributes)
    each_function(value, [&](const std::string& called) { bring(context, called); });
  const std::string node = node_def_of(checked(TFE_OpGetName, op), attributes);
  const auto in = pointers(inputs);
  return run(context, output_count, [&](anynpu_value** outputs) {
    return anynpu_library_run_node(library_, node.data(), node.size(), in.data(), in.size(), outputs, output_count);
  });
}

std::vector<Value> Engine::run_node(const anynpu_node* node, std::span<anynpu_value* const> inputs,
                                    size_t output_count) {
  std::vector<Attribute> attributes;
  anynpu_node_each_attribute(
      node,
      [](const char* name, const void* bytes, size_t size, void* context) {
        static_cast<std::vector<Attribute>*>(context)->emplace_back(name,
                                                                    std::string(static_cast<const char*>(bytes), size));
      },
      &attributes);
  const HostCall call{current_context, name_, anynpu_node_operator(node), nullptr, std::move(attributes), inputs,
                      output_count,    true};
  if (!enters_python(call.op)) return run_on_host(call);
  std::vector<Value> outputs;
  run_on_python_thread([&] { outputs = run_on_host(call); });
  return outputs;
}

int Engine::host(void* self, const anynpu_node* node, anynpu_value* const* inputs, size_t input_count,
                 anynpu_value** outputs, size_t output_count, const char** error) {
  TFE_Context* const context = current_context;
  try {
    std::vector<Value> values = static_cast<Engine*>(self)->run_node(node, {inputs, input_count}, output_count);
    for (size_t i = 0; i < values.size(); ++i) outputs[i] = values[i].release();
    current_context = context;  // the node may have called a function of its own, through Python
    return 0;
  } catch (const Failure& e) {
    host_code = e.code();
    host_text = e.what();
  } catch (const std::exception& e) {
    host_code = TF_INTERNAL;
    host_text = e.what();
  }
  current_context = context;
  *error = host_text.c_str();
  return 1;
}

}  // namespace npu::tensorflow
