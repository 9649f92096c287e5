// SPDX-License-Identifier: Apache-2.0
// Which tensor of the checkpoint each variable is restored from, as the graph's own restoring says: names of variables
// need not be those of tensors, and several variables may have one name.
#pragma once

#include <map>
#include <string>

#include "graph/import/tensorflow/graph_message.h"

namespace npu::graph::tensorflow {

struct Restored {
  std::string key;    ///< of the checkpoint
  std::string slice;  ///< "" for the whole tensor
};

/// By the variable's node. Variables that `restore_op` gives anything but a restored tensor are not there.
std::map<std::string, Restored> restored_variables(const GraphMessage& graph, const std::string& restore_op);

}  // namespace npu::graph::tensorflow
