// SPDX-License-Identifier: Apache-2.0
// What a session keeps from one run to the next, and the graph that uses it: variables, whether the graph has them by
// reference (VariableV2) or by handle (VarHandleOp), iterators, tables, queues. They become arguments of the function.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/import/tensorflow/catalogue.h"
#include "graph/ir/function.h"

namespace npu::graph::tensorflow {

/// One of them, and the argument it is given by.
struct SessionResource {
  std::string key;   ///< what it is found by in its session: container and name
  std::string node;  ///< of the graph, the first that makes it
  bool variable = false;
  std::string node_def;  ///< of any other, to be run once a session: a NodeDef without inputs
};

/// What a function uses of its session. Its arguments are for `resources`, behind those it had.
struct Taken {
  std::vector<SessionResource> resources;
  std::map<size_t, ValueType> variables;  ///< results that are variables by reference, and the types of their values
};

/// Gives `f` arguments for all that it keeps; what works on references works on handles, and values are read where they
/// are used. `scope` tells the names of resources of one session from those of others in the client's framework. Raises
/// 100024 naming an operator that takes references and is not known.
Taken take_resources(Function& f, const Catalogue& catalogue, const std::string& scope);

/// A variable that is fetched by reference is what it is when the run has ended: its result becomes a read that waits
/// for all that works on it. To be called when there are no frames and branches any more.
void read_at_the_end(Function& f, const std::map<size_t, ValueType>& variables);

}  // namespace npu::graph::tensorflow
