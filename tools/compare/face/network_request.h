// SPDX-License-Identifier: Apache-2.0
// What `compare` was asked for, over all operators of a run.
#pragma once

#include <string>

#include "tools/compare/network/tensor_row.h"
#include "tools/compare/single/operator_pair.h"

namespace npu::compare {

struct NetworkRequest {
  std::string mine, golden, rule, quantised_rule, closed_rule, output, range, select;
  bool mapping = false, advisor = false;
  Options options;
};

/// Writes the result `file` into the request's output folder.
int compare_network(NetworkRequest request, const std::string& file);

/// Writes the files of one tensor of one operator there.
int compare_single(const NetworkRequest& request, const TensorChoice& choice, DetailOptions options);

}  // namespace npu::compare
