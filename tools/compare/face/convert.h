// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tools/compare/tensor/tensor.h"

namespace npu::compare {

/// What dump files become.
struct Conversion {
  std::string output, type = "npy";
  std::optional<int32_t> format;             ///< wanted; nothing: as it was written
  Shape shape;                               ///< before it was a FRACTAL_NZ; empty: as the file tells
  std::optional<size_t> input, only_output;  ///< one tensor alone
};

/// Writes a dump file's tensors, buffers and workspaces into the folder. Tensors that cannot be converted are told, and
/// the rest is written; the exit code is that of the last such one.
int convert_file(const std::string& path, const Conversion& conversion);

}  // namespace npu::compare
