// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/session/session.h"

#include <algorithm>
#include <atomic>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>

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

std::string text_value(std::string_view text) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_string(field::kText, text.data(), text.size());
  return bytes;
}

const std::string& find(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto at = std::ranges::find(attributes, name, &Attribute::first);
  if (at == attributes.end()) throw Failure(TF_INTERNAL, "an iterator is made without " + std::string(name));
  return at->second;
}

/// What is known of feeds before a run: truth values. Where there are many, they are few among many, and left open.
std::vector<int8_t> decided_by(const std::vector<Value>& feeds) {
  constexpr int kMost = 4;
  std::vector<int8_t> out(feeds.size(), -1);
  int count = 0;
  for (size_t i = 0; i < feeds.size(); ++i) {
    const anynpu_value_view view = inspect(feeds[i].get());
    if (view.kind != ANYNPU_TENSOR || view.dtype != ACL_BOOL || view.rank != 0 || ++count > kMost) continue;
    out[i] = *static_cast<const bool*>(view.data) ? 1 : 0;
  }
  return out;
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

Slice::Slice(const SliceNames& names)
    : feeds_(names.feeds.begin(), names.feeds.end()),
      fetches_(names.fetches.begin(), names.fetches.end()),
      targets_(names.targets.begin(), names.targets.end()),
      replaced_(names.replaced.begin(), names.replaced.end()) {}

SliceNames Slice::names() const {
  SliceNames out;
  for (const auto& [from, to] : {std::pair{&feeds_, &out.feeds}, std::pair{&fetches_, &out.fetches},
                                 std::pair{&targets_, &out.targets}, std::pair{&replaced_, &out.replaced}})
    for (const std::string& one : *from) to->push_back(one.c_str());
  return out;
}

Slice& Session::slice(const SliceNames& names) {
  const std::lock_guard lock(mutex_);
  return *slices_.emplace_back(std::make_unique<Slice>(names));
}

const Variant& Session::variant(Slice& slice, const std::vector<int8_t>& decided) {
  const std::lock_guard lock(mutex_);
  auto at = slice.variants_.find(decided);
  if (at == slice.variants_.end()) at = slice.variants_.emplace(decided, made(slice, decided)).first;
  return at->second;
}

Variant Session::made(const Slice& slice, const std::vector<int8_t>& decided) {
  const SliceNames names = slice.names();
  Variant variant;
  variant.function = name_ + "@" + std::to_string(++functions_);
  anynpu_slice request{};
  request.struct_size = sizeof request;
  request.session = name_.c_str();
  request.feeds = names.feeds.data(), request.feed_count = names.feeds.size();
  request.fetches = names.fetches.data(), request.fetch_count = names.fetches.size();
  request.targets = names.targets.data(), request.target_count = names.targets.size();
  request.replaced = names.replaced.data(), request.replaced_count = names.replaced.size() / 2;
  request.decided = decided.data();
  struct Found {
    std::string key, node, node_def;
    bool variable;
  };
  std::vector<Found> found;
  check_engine(anynpu_library_add_slice(
      engine_.library(), variant.function.c_str(), graph_.get(), &request,
      [](const anynpu_slice_resource* one, void* list) {
        static_cast<std::vector<Found>*>(list)->push_back(
            {one->key, one->node, {static_cast<const char*>(one->node_def), one->size}, one->variable != 0});
      },
      &found));
  for (const Found& one : found)
    variant.resources.push_back(resource({sizeof(anynpu_slice_resource), one.key.c_str(), one.node.c_str(),
                                          one.variable, one.node_def.data(), one.node_def.size()}));
  return variant;
}

void Session::compile(Slice& slice) { variant(slice, std::vector<int8_t>(slice.feed_count(), -1)); }

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
  if (op == "OneShotIterator") return {op, one_shot(attributes)};
  const HostCall call{context_, engine_.name(), op.c_str(), nullptr, attributes, {}, 1, true};
  Value value = std::move(run_on_host(call).front());
  // It never leaves the session, so that it may be read ahead; its texts (string_handle) go to the program.
  if (op == "IteratorV2") object_of(value.get())->kept = object_of(value.get())->shared = true;
  return {op, std::move(value)};
}

/// As other iterators are made. TensorFlow would write a function around the operator, and keep it.
Value Session::one_shot(const std::vector<Attribute>& attributes) {
  std::string factory;
  std::vector<Attribute> iterator{{"shared_name", find(attributes, "container")}, {"container", text_value("")}};
  for (const char* name : {"output_types", "output_shapes"}) iterator.emplace_back(name, find(attributes, name));
  each_function(find(attributes, "dataset_factory"), [&](const std::string& name) { factory = name; });
  const TensorHandle data_set = std::move(run_on_host(context_, factory.c_str(), nullptr, {}, {}, 1).front());
  Value made =
      std::move(run_on_host(HostCall{context_, engine_.name(), "IteratorV2", nullptr, iterator, {}, 1, true}).front());
  TFE_TensorHandle* const both[] = {data_set.get(), object_of(made.get())->handle.get()};
  run_on_host(context_, "MakeIterator", nullptr, {}, both, 0);
  return made;
}

class Session::Use {
 public:
  explicit Use(Session& session) : session_(session) {}
  ~Use() { session_.leave(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Session& session_;
};

void Session::leave() {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0 && closed_) resources_.clear();
}

std::vector<Value> Session::run(Slice& slice, const std::vector<Value>& feeds, int times) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw Failure(TF_CANCELLED, "Session has been closed.");
    ++running_;
  }
  const Use use(*this);
  const Variant& chosen = variant(slice, decided_by(feeds));
  std::vector<anynpu_value*> inputs = pointers(feeds);
  inputs.insert(inputs.end(), chosen.resources.begin(), chosen.resources.end());
  std::vector<Value> results;
  for (int i = 0; i < times; ++i)
    results = engine_.run_added(context_, chosen.function.c_str(), inputs, slice.fetch_count());
  return results;
}

void Session::close() {
  std::vector<const Resource*> ended;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    ++running_;
    for (const auto& [key, one] : resources_)
      if (!one.op.empty()) ended.push_back(&one);
  }
  const Use use(*this);
  for (const Resource* one : ended) end(*one);  // without the lock: what waits for them may need it
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
