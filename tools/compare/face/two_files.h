// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/compare/metric/metric.h"

namespace npu::compare {

/// Compares two arrays of NumPy; shows the metrics, and writes them into folder `output` unless that is empty.
int compare_two_files(const std::string& mine, const std::string& golden, const Metrics& metrics,
                      const std::string& output);

}  // namespace npu::compare
