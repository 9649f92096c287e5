// SPDX-License-Identifier: Apache-2.0
// saved_model.pb: graphs, each with what can be asked of it and how its variables are restored.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/import/tensorflow/proto.h"
#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// A tensor of the graph, "node:index", that is an input or output of a signature.
struct Endpoint {
  std::string tensor;
  Output value;
};
using Endpoints = std::map<std::string, Endpoint>;

/// What a client can ask of the model.
struct ModelSignature {
  Endpoints inputs, outputs;
};

struct MetaGraph {
  std::vector<std::string> tags;
  Bytes graph_def;
  std::string restore_op;  ///< the node that restores all variables, maybe none
  std::map<std::string, ModelSignature> signatures;
};

/// The graph for inference: tagged "serve", or the only one. Raises 100006 on damaged bytes, 161002 naming the tags of
/// all where it is none of them, 207000 for sparse inputs.
MetaGraph read_meta_graph(Bytes saved_model);

/// The signature `asked`; "": "serving_default", or the only one. Raises 161002 naming those that there are.
const ModelSignature& choose_signature(const MetaGraph& graph, const std::string& asked);

}  // namespace npu::graph::tensorflow
