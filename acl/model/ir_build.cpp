// SPDX-License-Identifier: Apache-2.0
// The C++ door for inference clients: what an ONNX model becomes in memory.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>

#include "acl/call.h"
#include "base/file.h"
#include "base/split.h"
#include "ge/ge_ir_build.h"
#include "graph/convert/convert.h"
#include "graph/convert/importer.h"
#include "graph/model/model_file.h"

namespace ge {

/// What was parsed: the file as it came. It is read again for the shapes that the build asks for.
class GraphImpl {
 public:
  explicit GraphImpl(std::string graph_name) : name(std::move(graph_name)) {}
  std::string name, bytes, folder;
};

namespace {

using npu::acl::call;
using npu::graph::convert::Flags;

constexpr int kOnnx = 5;

/// Keys that are not called as the flag of atc is.
constexpr std::pair<std::string_view, const char*> kFlagsOfKeys[] = {
    {"ge.socVersion", "soc_version"},
    {"ge.exec.precision_mode", "precision_mode"},
    {"ge.exec.precision_mode_v2", "precision_mode_v2"},
    {"ge.exec.modify_mixlist", "modify_mixlist"},
    {"ge.opSelectImplmode", "op_select_implmode"},
    {"ge.optypelistForImplmode", "optypelist_for_implmode"},
    {"ge.fusionSwitchFile", "fusion_switch_file"},
    {"ge.exec.disableReuseMemory", "disable_reuse_memory"},
    {"ge.outputDatatype", "output_type"},
    {"ge.insertOpFile", "insert_op_conf"},
    {"ge.dynamicBatchSize", "dynamic_batch_size"},
    {"ge.dynamicImageSize", "dynamic_image_size"},
    {"ge.dynamicDims", "dynamic_dims"},
};

/// Options of all models, from aclgrphBuildInitialize on.
struct Global {
  std::mutex mutex;
  bool open = false;
  Flags flags;
};
Global& global() {
  static auto* const one = new Global;
  return *one;
}

std::string text_of(const AscendString& text) { return text.GetString() == nullptr ? "" : text.GetString(); }

/// onnxruntime's provider writes numbers without a shape as their name alone, "x:1,3;depth"; atc has a colon there.
std::string with_colons(const std::string& shapes) {
  std::string out;
  for (const std::string_view one : npu::split(shapes, ";")) {
    if (!out.empty()) out += ';';
    out += one;
    if (one.find(':') == std::string_view::npos) out += ':';
  }
  return out;
}

void add(Flags& to, const Options& options) {
  for (const auto& [key, value] : options) {
    const std::string name = text_of(key);
    const auto* const at = std::ranges::find(kFlagsOfKeys, name, [](const auto& pair) { return pair.first; });
    const std::string text = text_of(value);
    to[at == std::end(kFlagsOfKeys) ? name : at->second] = name == ir_option::INPUT_SHAPE ? with_colons(text) : text;
  }
}

template <class Work>
graphStatus in_door(const char* function, Work&& work) {
  return call(function, std::forward<Work>(work)) == ACL_SUCCESS ? GRAPH_SUCCESS : GRAPH_FAILED;
}

/// Reads the model once, for what is wrong with it to be told by whoever parses it.
void parse(std::string bytes, std::string folder, Graph& graph) {
  npu::graph::convert::import_model(kOnnx, bytes, {}, folder);
  if (graph.Impl() == nullptr) graph = Graph("model");
  graph.Impl()->bytes = std::move(bytes), graph.Impl()->folder = std::move(folder);
}

void build(const Graph& graph, const Options& options, ModelBufferData& model) {
  if (graph.Impl() == nullptr || graph.Impl()->bytes.empty())
    npu::fail(npu::Code::kInvalidParam, "the graph holds no model; parse one with aclgrphParseONNXFromMem first");
  Flags flags;
  {
    const std::lock_guard lock(global().mutex);
    if (!global().open) npu::fail(npu::Code::kUninitialized, "call aclgrphBuildInitialize before models are built");
    flags = global().flags;
  }
  add(flags, options);
  auto request = npu::graph::convert::read_request(flags);
  request.name = graph.Impl()->name;
  const std::string bytes = npu::graph::model::to_bytes(npu::graph::convert::convert(
      npu::graph::convert::import_model(kOnnx, graph.Impl()->bytes, request, graph.Impl()->folder), request));
  model.data = {new uint8_t[bytes.size()], std::default_delete<uint8_t[]>()};
  model.length = bytes.size();
  std::memcpy(model.data.get(), bytes.data(), bytes.size());
}

void save(const char* file, const ModelBufferData& model) {
  if (file == nullptr || *file == 0) npu::fail(npu::Code::kInvalidParam, "the file has no name");
  if (model.data == nullptr || model.length == 0)
    npu::fail(npu::Code::kInvalidParam, "the buffer holds no model; build one with aclgrphBuildModel first");
  const std::string path = std::string(file) + ".om";
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(model.data.get()), static_cast<std::streamsize>(model.length));
  out.close();
  if (!out) npu::fail(npu::Code::kInvalidFile, "{} cannot be written: {}", path, std::strerror(errno));
}

}  // namespace

AscendString::AscendString(const char* name) : name_(name == nullptr ? nullptr : std::make_shared<std::string>(name)) {}

const char* AscendString::GetString() const { return name_ == nullptr ? nullptr : name_->c_str(); }

bool AscendString::operator<(const AscendString& other) const {
  if (name_ == nullptr || other.name_ == nullptr) return name_ == nullptr && other.name_ != nullptr;
  return *name_ < *other.name_;
}

bool AscendString::operator==(const AscendString& other) const {
  if (name_ == nullptr || other.name_ == nullptr) return name_ == other.name_;
  return *name_ == *other.name_;
}

Graph::Graph(const char* name) : impl_(std::make_shared<GraphImpl>(name == nullptr ? "model" : name)) {}

graphStatus aclgrphParseONNXFromMem(const char* buffer, size_t size, const Options& /*parser_params*/, Graph& graph) {
  if (buffer == nullptr) return GRAPH_PARAM_INVALID;
  return in_door("aclgrphParseONNXFromMem", [&] { parse({buffer, size}, "", graph); });
}

graphStatus aclgrphParseONNX(const char* model_file, const Options& /*parser_params*/, Graph& graph) {
  if (model_file == nullptr) return GRAPH_PARAM_INVALID;
  return in_door("aclgrphParseONNX", [&] {
    const std::optional<std::string> text = npu::whole_file(model_file);
    if (!text) npu::fail(npu::Code::kInvalidFile, "{} cannot be read: {}", model_file, std::strerror(errno));
    const std::string path = model_file;
    parse(*text, path.substr(0, path.rfind('/') + 1), graph);
  });
}

graphStatus aclgrphBuildInitialize(Options& global_options) {
  return in_door("aclgrphBuildInitialize", [&] {
    Flags flags;
    add(flags, global_options);
    npu::graph::convert::read_request(flags);  // refuses what is wrong with them
    const std::lock_guard lock(global().mutex);
    global().open = true, global().flags = std::move(flags);
  });
}

void aclgrphBuildFinalize() {
  const std::lock_guard lock(global().mutex);
  global().open = false, global().flags.clear();
}

graphStatus aclgrphBuildModel(const Graph& graph, const Options& build_options, ModelBufferData& model) {
  return in_door("aclgrphBuildModel", [&] { build(graph, build_options, model); });
}

graphStatus aclgrphSaveModel(const char* output_file, const ModelBufferData& model) {
  return in_door("aclgrphSaveModel", [&] { save(output_file, model); });
}

}  // namespace ge
