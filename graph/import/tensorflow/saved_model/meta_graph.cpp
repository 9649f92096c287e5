// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/meta_graph.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "graph/import/tensorflow/value.h"

namespace npu::graph::tensorflow {
namespace {

constexpr const char* kServe = "serve";
constexpr const char* kDefault = "serving_default";
constexpr const char* kInternal = "__saved_model_";  // what begins so is TensorFlow's own: how a model is initialised

Endpoint read_endpoint(const std::string& key, Bytes tensor_info) {
  Endpoint out;
  each_field(tensor_info, [&](Field f) {
    switch (f.number()) {
      case field::kTensorName: out.tensor = f.text(); break;
      case field::kInfoType: out.value.type = value_type(f.integer()); break;
      case field::kInfoShape: out.value.shape = read_shape(f.bytes()); break;
      case field::kSparse:
      case field::kComposite:
        fail(Code::kFeatureUnsupported,
             "'{}' of a signature is no plain tensor (sparse or composite); export a function of dense tensors", key);
      default: break;
    }
  });
  return out;
}

ModelSignature read_model_signature(Bytes signature_def) {
  ModelSignature out;
  const auto add = [](Endpoints& to, Bytes one) {
    map_entry(one, [&](const std::string& key, Bytes info) { to[key] = read_endpoint(key, info); });
  };
  each_field(signature_def, [&](Field f) {
    if (f.number() == field::kSignatureInputs) add(out.inputs, f.bytes());
    if (f.number() == field::kSignatureOutputs) add(out.outputs, f.bytes());
  });
  return out;
}

MetaGraph read_one(Bytes meta_graph) {
  MetaGraph out;
  each_field(meta_graph, [&](Field f) {
    switch (f.number()) {
      case field::kMetaInfo:
        each_field(f.bytes(), [&](Field info) {
          if (info.number() == field::kTags) out.tags.push_back(info.text());
        });
        break;
      case field::kMetaGraphDef: out.graph_def = f.bytes(); break;
      case field::kSaver:
        each_field(f.bytes(), [&](Field saver) {
          if (saver.number() == field::kRestoreOp) out.restore_op = saver.text();
        });
        break;
      case field::kSignatureDef:
        map_entry(f.bytes(), [&](const std::string& name, Bytes signature) {
          if (!name.starts_with(kInternal)) out.signatures[name] = read_model_signature(signature);
        });
        break;
      default: break;
    }
  });
  return out;
}

}  // namespace

MetaGraph read_meta_graph(Bytes saved_model) {
  std::vector<MetaGraph> all;
  parsed("a SavedModel", [&] {
    each_field(saved_model, [&](Field f) {
      if (f.number() == field::kMetaGraph) all.push_back(read_one(f.bytes()));
    });
  });
  require(!all.empty(), "the SavedModel holds no graph");
  if (all.size() == 1) return std::move(all.front());
  const auto serves = std::ranges::find(all, std::vector<std::string>{kServe}, &MetaGraph::tags);
  if (serves != all.end()) return std::move(*serves);
  std::vector<std::string> tags;
  for (const MetaGraph& one : all) tags.push_back(fmt::format("{}", fmt::join(one.tags, "+")));
  fail(Code::kNnInvalidParam, "the SavedModel has {} graphs, tagged {}, none of them for '{}' alone; save one of them",
       all.size(), fmt::join(tags, ", "), kServe);
}

const ModelSignature& choose_signature(const MetaGraph& graph, const std::string& asked) {
  std::vector<std::string> names;
  for (const auto& [name, signature] : graph.signatures) names.push_back(name);
  require(!names.empty(), "the SavedModel has no signature; save it with signatures=");
  const bool only = asked.empty() && names.size() == 1;
  const std::string wanted = only ? names.front() : asked.empty() ? kDefault : asked;
  const auto at = graph.signatures.find(wanted);
  require(at != graph.signatures.end(), "the SavedModel has no signature '{}'; it has {}: choose with signature_def",
          wanted, fmt::join(names, ", "));
  return at->second;
}

}  // namespace npu::graph::tensorflow
