// SPDX-License-Identifier: Apache-2.0
// What dumped graphs (ge_proto_*_Build.txt) tell of a model: its operators, and who reads whom.
#pragma once

#include <string>
#include <vector>

#include "tools/compare/side/run.h"

namespace npu::compare {

/// Texts of a model around a dump's folder: in it, below `top`, in the folders above it and in the current one.
/// `named`, a file or a folder, is looked into instead unless it is empty.
std::vector<std::string> find_graph_texts(const std::string& folder, const std::string& top, const std::string& model,
                                          const std::string& named);

/// Operators of all texts. What one text takes as an argument and another one makes is one operator.
std::vector<Operator> read_graphs(const std::vector<std::string>& texts, std::vector<std::string>& notes);

}  // namespace npu::compare
