// SPDX-License-Identifier: Apache-2.0
// Digests of what operators read and write, in a file (record/digest_file.h): two runs that should be equal are
// compared by them, and the first operator that reads the same and writes something else is known without a tensor on
// disk.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/tensor.h"
#include "graph/dump/record/digest_file.h"

namespace npu::graph {

/// 64 bits of the type, the shape and the elements in their order, wherever in memory these are; any change of one
/// element gives others. They do not depend on the number of threads.
uint64_t digest_of(const Tensor& tensor);

struct DigestRequest {
  /// It is made with the first operator. One that is there stays, and another gets a number: run.digest, run.2.digest.
  std::string file;
  std::optional<record::Place> place = {};                 ///< an operator to be told of
  std::function<void(const std::string& text)> tell = {};  ///< that it has run, on the thread that ran it
  std::function<void(const std::string& text)> fail = {};  ///< that the file could not be written; no more is
};

/// From now on, to the end of the process or stop_digests(). Raises 100003 where the folder is none or cannot be
/// written, 100044 while digests are written.
void start_digests(DigestRequest request);
/// Returns when all is written. False without any.
bool stop_digests();

}  // namespace npu::graph
