// SPDX-License-Identifier: Apache-2.0
// One input or output of one operator, element by element, as files.
#pragma once

#include <string>

#include "tools/compare/single/element_error.h"

namespace npu::compare {

struct DetailOptions {
  std::string folder;
  size_t top = 20;           ///< elements that are farthest away, in files of their own and on stdout
  uint64_t lines = 1000000;  ///< elements in one file
  bool values = true;        ///< whether there are files with all elements
};

struct Detail {
  std::string tensor;        ///< "net_conv_output_0": how its files' names begin
  std::string dump_file;     ///< that holds my side: names of files that would be too long begin with it
  std::string mine, golden;  ///< the operators
  std::string axes;          ///< "N C H W"
};

/// Writes my side as an array, the summary, all elements and those that are farthest away. What an earlier run left of
/// the same tensor is removed.
void write_detail(const Detail& detail, const View& mine, const View& golden, const DetailOptions& options);

}  // namespace npu::compare
