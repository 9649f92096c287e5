// SPDX-License-Identifier: Apache-2.0
// One run of a session as a function: what its fetches and targets stand on, from what is fed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/import/tensorflow/graph_message.h"
#include "graph/import/tensorflow/session/resource.h"

namespace npu::graph::tensorflow {

struct SliceRequest {
  std::string name = {};                                           ///< of the function
  std::string scope = {};                                          ///< see take_resources
  std::vector<std::string> feeds = {};                             ///< values, "node:0"
  std::vector<std::string> fetches = {};                           ///< the same
  std::map<std::string, bool> decided = {};                        ///< feeds whose value is known, and decides branches
  std::vector<std::string> targets = {};                           ///< nodes
  std::vector<std::pair<std::string, std::string>> replaced = {};  ///< values, and those that stand for them
};

struct Slice {
  std::shared_ptr<Function> function;  ///< its arguments are the feeds, then `resources`
  std::vector<SessionResource> resources;
};

/// Cuts the function out of the graph and adds it, the functions that it calls and those that its loops and branches
/// became to `program`. Raises 161002 naming a feed, a fetch or a target that the graph does not have, and what the
/// reader, take_resources, make_loops and make_branches raise.
Slice read_slice(const GraphMessage& graph, const SliceRequest& request, const Catalogue& catalogue, Program& program);

}  // namespace npu::graph::tensorflow
