// SPDX-License-Identifier: Apache-2.0
// What the adapter reads of TensorFlow's messages: which functions a FunctionDef calls, which operators it has.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npu::tensorflow {

/// Calls `visit` for each function that the value of an attribute (AttrValue bytes) names.
void each_function(std::string_view attr_value, const std::function<void(std::string)>& visit);
/// Calls `visit` for each function that the nodes of a FunctionDef name.
void each_called(std::string_view function_def, const std::function<void(std::string)>& visit);
/// Calls `visit` with the operator of each node of a FunctionDef.
void each_operator(std::string_view function_def, const std::function<void(std::string)>& visit);
std::string function_name(std::string_view function_def);
/// The operator of a NodeDef and its attributes, each with TensorFlow's encoding of its value.
std::pair<std::string, std::vector<std::pair<std::string, std::string>>> read_node(std::string_view node_def);
/// Calls `visit` for each operator of an OpList that TensorFlow calls stateful.
void each_stateful(std::string_view op_list, const std::function<void(std::string)>& visit);

}  // namespace npu::tensorflow
