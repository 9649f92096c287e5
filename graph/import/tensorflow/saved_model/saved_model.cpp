// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/saved_model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "graph/import/tensorflow/model_graph.h"
#include "graph/import/tensorflow/reader.h"
#include "graph/import/tensorflow/saved_model/bundle.h"
#include "graph/import/tensorflow/saved_model/freeze.h"
#include "graph/import/tensorflow/saved_model/meta_graph.h"
#include "graph/import/tensorflow/saved_model/restored.h"
#include "graph/import/tensorflow/signatures.h"

namespace npu::graph::tensorflow {
namespace {

constexpr const char* kName = "model";
constexpr const char* kWay =
    "of a SavedModel variables are read, tables, assets and other resources are not: give another signature with "
    "signature_def, or end the graph before them with out_nodes, or freeze a function without them in TensorFlow "
    "(convert_variables_to_constants_v2(function)) and convert the .pb";

/// The values of a model's variables; their files are opened when the first of them is asked for.
class Variables {
 public:
  Variables(std::filesystem::path folder, std::map<std::string, Restored> restored)
      : folder_(std::move(folder)), restored_(std::move(restored)) {}

  Literal read(const std::string& node) {
    const auto at = restored_.find(node);
    if (at == restored_.end())
      fail(Code::kFeatureUnsupported,
           "variable {} is not among those that the SavedModel restores from its checkpoint; save it as part of the "
           "model's object, or freeze the model in TensorFlow",
           node);
    if (!at->second.slice.empty())
      fail(Code::kFeatureUnsupported,
           "variable {} is the part {} of {} (a partitioned variable); save the model without a partitioner", node,
           at->second.slice, at->second.key);
    if (!bundle_) bundle_.emplace(folder_ / "variables" / "variables");
    return bundle_->read(at->second.key);
  }

 private:
  std::filesystem::path folder_;
  std::map<std::string, Restored> restored_;
  std::optional<Bundle> bundle_;
};

/// What a request makes of a signature.
struct Wanted {
  std::vector<Fed> inputs;
  std::vector<std::string> input_names;
  std::vector<std::pair<std::string, std::string>> outputs;  ///< name, tensor
};

void want_inputs(Wanted& wanted, const Endpoints& inputs, const ImportOptions& options) {
  for (const auto& [name, input] : inputs) {
    const Spelling s = spell(input.tensor);
    require(s.index == 0, "input '{}' is output {} of node {}; inputs of models are first outputs", name, s.index,
            s.node);
    wanted.inputs.push_back({std::string(s.node), {input.value.type, asked_shape(name, input.value.shape, options)}});
    wanted.input_names.push_back(name);
  }
  for (const auto& [name, shape] : options.input_shapes)
    require(inputs.contains(name), "a shape is given for input '{}', which the signature does not have; it has {}",
            name, fmt::join(wanted.input_names, ", "));
}

Wanted wanted_of(const ModelSignature& signature, const ImportOptions& options) {
  Wanted out;
  want_inputs(out, signature.inputs, options);
  if (options.out_nodes.empty())
    for (const auto& [name, output] : signature.outputs) out.outputs.emplace_back(name, output.tensor);
  for (const std::string& one : options.out_nodes) {
    const auto at = signature.outputs.find(one);
    out.outputs.emplace_back(one, at == signature.outputs.end() ? one : at->second.tensor);
  }
  require(!out.outputs.empty(), "the signature has no outputs; name results with out_nodes");
  return out;
}

Reached reached(const GraphMessage& graph, const Wanted& wanted) {
  std::set<std::string> nodes, fed;
  for (const auto& [name, tensor] : wanted.outputs) nodes.emplace(spell(tensor).node);
  for (const Fed& input : wanted.inputs) fed.insert(input.node);
  return graph.reached(nodes, fed);
}

void refuse_unknown(const Reached& parts, const Wanted& wanted) {
  Reached computed = parts;
  std::erase_if(computed.nodes, [&](const NodeLink* node) {
    return std::ranges::any_of(wanted.inputs, [&](const Fed& fed) { return fed.node == node->name; });
  });
  computed.refuse_unknown(kWay);
}

std::vector<std::string> tensors_of(const Wanted& wanted) {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : wanted.outputs) out.push_back(tensor);
  return out;
}

/// Results by the names of the signature's outputs, or as they were asked for.
void give(Function& f, const Imported& model, const Wanted& wanted) {
  for (const auto& [name, tensor] : wanted.outputs) {
    const auto value = value_named(model, tensor);
    require(value.has_value(), "'{}' is no output of the signature, and no tensor of the graph", name);
    f.results.push_back({name, *value});
  }
}

}  // namespace

bool is_saved_model(Bytes pb) {
  constexpr char kBegin = static_cast<char>(field::kSchemaVersion << 3);  // a varint; a graph begins with a message
  return pb.size() > 0 && pb.data()[0] == kBegin;
}

Imported read_saved_model(Bytes saved_model, const ImportOptions& options) {
  const MetaGraph meta = read_meta_graph(saved_model);
  const Wanted wanted = wanted_of(choose_signature(meta, options.signature), options);
  const GraphMessage graph(meta.graph_def);
  const Reached parts = reached(graph, wanted);
  refuse_unknown(parts, wanted);
  Imported out;
  const auto f = read_graph(parts, wanted.inputs, kName, known_operators(), out.program);
  name_values(*f, out);
  make_functional(*f, out, tensors_of(wanted));
  for (size_t i = 0; i < f->arguments.size(); ++i) f->arguments[i].name = wanted.input_names[i];
  give(*f, out, wanted);
  Variables variables(options.folder, restored_variables(graph, meta.restore_op));
  freeze(*f, out.program, [&](const std::string& node) { return variables.read(node); });
  out.function = f->name;
  out.program.add(f);
  out.format = "TensorFlow";
  return out;
}

}  // namespace npu::graph::tensorflow
