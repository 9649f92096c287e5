// SPDX-License-Identifier: Apache-2.0
// What `compare` was asked for, over all operators of a run.
#pragma once

#include <string>

#include "tools/compare/network/tensor_row.h"

namespace npu::compare {

struct NetworkRequest {
  std::string mine, golden, rule, quantised_rule, closed_rule, output, range, select;
  bool mapping = false, advisor = false;
  Options options;
};

/// Writes the result `file` into the request's output folder.
int compare_network(NetworkRequest request, const std::string& file);

}  // namespace npu::compare
