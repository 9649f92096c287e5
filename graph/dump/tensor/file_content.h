// SPDX-License-Identifier: Apache-2.0
// What is to be written, before it is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/dump/tensor/blob.h"

namespace npu::graph {

/// Bytes for one file, in order.
struct FileContent {
  std::string folder, name;  ///< the folder is made where it is missing
  std::string listed = {};   ///< a line for the folder's mapping.csv; empty for none
  std::string head;
  std::vector<Blob> blobs = {};

  size_t bytes() const {  ///< of the file
    size_t bytes = head.size();
    for (const Blob& blob : blobs) bytes += blob.size;
    return bytes;
  }
};

}  // namespace npu::graph
