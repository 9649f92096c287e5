// SPDX-License-Identifier: Apache-2.0
// What is in a cache, for its user to look at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "graph/ir/dialect.h"

namespace npu::graph::cache {

struct EntryFacts {
  std::string key;
  std::string function;      ///< "" where the description is gone
  std::string made;          ///< "2026-05-01T12:00:00Z"
  int64_t nodes = 0;         ///< after the passes
  int64_t bytes = 0;         ///< of the entry's files
  double compile_ms = 0;     ///< what passes took that made it
  int64_t used_seconds = 0;  ///< since it was made or taken
  std::string problem;       ///< why it will not be taken; "" for a good one
};

/// All entries of the folder, the last used first, each read and checked. None where there is no folder.
std::vector<EntryFacts> inspect(const std::filesystem::path& place, const Dialect& dialect);

}  // namespace npu::graph::cache
