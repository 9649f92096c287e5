// SPDX-License-Identifier: Apache-2.0
#include "acl/graph/library.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "acl/call.h"
#include "acl/graph/value.h"
#include "base/thread_pool.h"
#include "device/process/soc.h"
#include "graph/dump/kernel_files.h"
#include "graph/import/tensorflow/dialect.h"
#include "graph/ir/node_error.h"
#include "graph/plan/lowering.h"
#include "graph/run/executable.h"

struct anynpu_node {
  const npu::graph::Node& node;
};

namespace npu::acl {
namespace {

thread_local std::optional<graph::NodeError> last_failure;

graph::Bytes bytes_of(const void* data, size_t size, const char* argument) {
  return {static_cast<const char*>(given(const_cast<void*>(data), argument)), size};
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
aclError call_graph(const char* function, Body&& body) {
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

}  // namespace
}  // namespace npu::acl

using npu::acl::call;
using npu::acl::given;
using npu::acl::result;

extern "C" {

const char* anynpu_node_operator(const anynpu_node* node) {
  const std::string& op = node->node.op;
  return op.c_str() + (op.starts_with(npu::graph::kOnHost) ? npu::graph::kOnHost.size() : 0);
}

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
  return npu::acl::call_graph("anynpu_library_run", [&] {
    const auto values = npu::acl::values_of(inputs, input_count, "inputs");
    auto& functions = given(library, "library")->library;
    npu::acl::give(functions.get(given(function, "function"), npu::graph::Role::kRoot)->run(values), outputs,
                   output_count);
  });
}

aclError anynpu_library_run_node(anynpu_library* library, const void* node_def, size_t size,
                                 anynpu_value* const* inputs, size_t input_count, anynpu_value** outputs,
                                 size_t output_count) {
  return npu::acl::call_graph("anynpu_library_run_node", [&] {
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
  return npu::acl::call_graph("anynpu_library_compile", [&] {
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
    const anynpu_compiled out{sizeof(out),       one.function.c_str(), one.graph, one.plan,
                              one.cause.c_str(), one.milliseconds,     one.nodes, one.host_nodes,
                              one.loops,         one.cache.c_str()};
    visit(&out, context);
  });
}

aclError anynpu_library_overlap(anynpu_library* library, int32_t on) {
  return call("anynpu_library_overlap",
              [&] { given(library, "library")->library.overlap(on != 0 && npu::thread_count() > 1); });
}

aclError anynpu_library_keep(anynpu_library* library, const char* mode, const char* folder) {
  return call("anynpu_library_keep", [&] {
    anynpu_library& live = *given(library, "library");
    const npu::graph::cache::Mode wanted = npu::graph::cache::mode_in_force(given(mode, "mode"));
    live.library.keep_in(npu::graph::cache::open(wanted, npu::graph::cache::place_of(folder == nullptr ? "" : folder)));
  });
}

aclError anynpu_library_write_files(anynpu_library* library, const char* files, const char* folder) {
  return call("anynpu_library_write_files", [&] {
    anynpu_library& live = *given(library, "library");
    const npu::graph::KernelFileKinds kinds = npu::graph::kernel_file_kinds(given(files, "files"));
    live.library.listen(std::make_shared<npu::graph::KernelFiles>(kinds, given(folder, "folder")));
  });
}

void anynpu_library_restart_random(anynpu_library* library) {
  if (library != nullptr) library->library.restart_states();
}

void anynpu_library_report(anynpu_library* library, void (*visit)(const char* json, void* context), void* context) {
  if (library != nullptr && visit != nullptr) visit(library->library.report().json().c_str(), context);
}

void anynpu_each_node_kind(void (*visit)(const char* op, void* context), void* context) {
  for (const std::string_view op : npu::graph::lowered_operators(npu::graph::tensorflow::dialect()))
    if (!op.starts_with('_')) visit(std::string(op).c_str(), context);  // those are no client's
}

void anynpu_each_failed(void (*visit)(const char* name, int is_node, const char* text, void* context), void* context) {
  const auto& failure = npu::acl::last_failure;
  if (!failure) return;
  for (const std::string& function : failure->functions()) visit(function.c_str(), 0, "", context);
  visit(failure->node().c_str(), 1, failure->plain().c_str(), context);
}

}  // extern "C"
