// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/session/session.h"

#include <atomic>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "adapters/tensorflow/c_api/function_def.h"
#include "adapters/tensorflow/c_api/message.h"
#include "adapters/tensorflow/input/iterator.h"
#include "adapters/tensorflow/tensor/handle.h"

namespace npu::tensorflow {
namespace {

std::string next_name() {
  static std::atomic<int> count{0};
  return "session_" + std::to_string(++count);
}

std::string bool_value(bool value) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_bool(field::kFlag, value);
  return bytes;
}

/// The functions of a graph, for operators that TensorFlow runs.
void tell_functions(TFE_Context* context, std::string_view graph_def) {
  protozero::pbf_reader graph(graph_def.data(), graph_def.size());
  while (graph.next(field::kGraphLibrary)) {
    protozero::pbf_reader library = graph.get_message();
    while (library.next(field::kLibraryFunction)) {
      const protozero::data_view function = library.get_view();
      const std::string name = function_name({function.data(), function.size()});
      if (TFE_ContextHasFunction(context, name.c_str()) == 0)
        checked(TFE_ContextAddFunctionDef, context, function.data(), function.size());
    }
  }
}

}  // namespace

Session::Session(Engine& engine, TFE_Context* context) : engine_(engine), context_(context), name_(next_name()) {}

Session::~Session() {
  close();
  anynpu_library_end_session(engine_.library(), name_.c_str());
}

void Session::set_graph(std::string_view graph_def) {
  tell_functions(context_, graph_def);
  anynpu_session_graph* graph = nullptr;
  check_engine(anynpu_session_graph_read(graph_def.data(), graph_def.size(), &graph));
  const std::lock_guard lock(mutex_);
  graph_.reset(graph);
}

const Slice& Session::slice(const SliceNames& names) {
  const std::lock_guard lock(mutex_);
  auto slice = std::make_unique<Slice>();
  slice->function = name_ + "#" + std::to_string(slices_.size() + 1);
  slice->feeds = names.feeds.size(), slice->fetches = names.fetches.size();
  anynpu_slice request{};
  request.struct_size = sizeof request;
  request.session = name_.c_str();
  request.feeds = names.feeds.data(), request.feed_count = names.feeds.size();
  request.fetches = names.fetches.data(), request.fetch_count = names.fetches.size();
  request.targets = names.targets.data(), request.target_count = names.targets.size();
  request.replaced = names.replaced.data(), request.replaced_count = names.replaced.size() / 2;
  struct Found {
    std::string key, node, node_def;
    bool variable;
  };
  std::vector<Found> found;
  check_engine(anynpu_library_add_slice(
      engine_.library(), slice->function.c_str(), graph_.get(), &request,
      [](const anynpu_slice_resource* one, void* list) {
        static_cast<std::vector<Found>*>(list)->push_back(
            {one->key, one->node, {static_cast<const char*>(one->node_def), one->size}, one->variable != 0});
      },
      &found));
  for (const Found& one : found)
    slice->resources.push_back(resource({sizeof(anynpu_slice_resource), one.key.c_str(), one.node.c_str(), one.variable,
                                         one.node_def.data(), one.node_def.size()}));
  return *slices_.emplace_back(std::move(slice));
}

anynpu_value* Session::resource(const anynpu_slice_resource& one) {
  auto at = resources_.find(one.key);
  if (at == resources_.end()) at = resources_.emplace(one.key, made(one)).first;
  return at->second.value.get();
}

Session::Resource Session::made(const anynpu_slice_resource& one) {
  if (one.variable != 0) {
    anynpu_value* variable = nullptr;
    check_engine(anynpu_value_variable(engine_.device(), &variable));
    return {"", Value(variable)};
  }
  const auto [op, attributes] = read_node({static_cast<const char*>(one.node_def), one.size});
  const HostCall call{context_, engine_.name(), op.c_str(), nullptr, attributes, {}, 1, true};
  return {op, std::move(run_on_host(call).front())};
}

std::vector<Value> Session::run(const Slice& slice, const std::vector<Value>& feeds, int times) {
  std::vector<anynpu_value*> inputs = pointers(feeds);
  inputs.insert(inputs.end(), slice.resources.begin(), slice.resources.end());
  std::vector<Value> results;
  for (int i = 0; i < times; ++i) results = engine_.run_added(context_, slice.function.c_str(), inputs, slice.fetches);
  return results;
}

void Session::close() {
  std::map<std::string, Resource> resources;
  {
    const std::lock_guard lock(mutex_);
    resources.swap(resources_);
  }
  for (const auto& [key, one] : resources)
    if (!one.op.empty()) end(one);
}

/// What waits for a queue fails then, as it does when TensorFlow closes a session.
void Session::end(const Resource& one) {
  anynpu_value* const input = one.value.get();
  const auto call = [&](const char* op, std::vector<Attribute> attributes) {
    run_on_host(HostCall{context_, engine_.name(), op, nullptr, std::move(attributes), {&input, 1}, 0, true});
  };
  try {
    if (one.op.find("Queue") != std::string::npos)
      call("QueueCloseV2", {{"cancel_pending_enqueues", bool_value(true)}});
    call("DestroyResourceOp", {{"ignore_lookup_error", bool_value(true)}});
  } catch (const Failure&) {
    // It is gone already, or was closed by the program.
  }
}

}  // namespace npu::tensorflow
