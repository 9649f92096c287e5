// SPDX-License-Identifier: Apache-2.0
// Which outputs the nodes of functions have: their operators' signatures, with the nodes' attributes put in.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/tensorflow/c_api/tf_api.h"

namespace npu::tensorflow::golden {

/// An output of a node, as inputs of other nodes name it behind the node's name: "output:2".
struct OutputName {
  std::string reference;
  TF_DataType type;
};

/// Values (AttrValue bytes) by name.
using Attributes = std::map<std::string, std::string, std::less<>>;

/// All outputs of a node, in order; none for an operator that TensorFlow does not know.
std::vector<OutputName> outputs_of(std::string_view op, const Attributes& attributes);

}  // namespace npu::tensorflow::golden
