// SPDX-License-Identifier: Apache-2.0
// All dump files of a run, wherever they lie below its folder.
#pragma once

#include <string>
#include <vector>

#include "graph/dump/record/dump_name.h"

namespace npu::compare {

struct Named {
  std::string path;
  graph::record::DumpName name;  ///< which mapping.csv may know
};

/// The earliest first. Files of other kinds are passed over.
std::vector<Named> files_below(const std::string& folder);

}  // namespace npu::compare
