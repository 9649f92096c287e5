// SPDX-License-Identifier: Apache-2.0
// What a dump keeps of one task, and the file that it becomes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/dump/record/dump_data.h"
#include "graph/dump/tensor/file_writer.h"
#include "ops/runner/observer.h"

namespace npu::graph {

/// Microseconds since 1970, each number given once: files of one task differ by it.
uint64_t unique_now();
/// `{type}.{name}.{task}.{stream}.{microseconds}`.
std::string name_of_file(const ops::Execution& execution, uint64_t now);
/// aclnnAdd is the name of a call, and Add its type.
std::string type_of(const ops::Execution& execution);

/// The elements in their order, wherever in memory they are.
Blob bytes_copied(const Tensor& tensor);

/// Tensors as they are now, or what is to be said of them.
class TaskContent {
 public:
  explicit TaskContent(bool statistics) : statistics_(statistics) {}

  void keep_inputs(const ops::Execution& execution) { keep("Input", execution.inputs, data_.inputs); }
  void keep_outputs(const ops::Execution& execution);
  void add_attr(std::string name, std::string value) { data_.attrs.push_back({std::move(name), std::move(value)}); }
  /// Whether `holds` of each of `inputs` as it was when it was kept.
  bool kept(const std::vector<ops::Seen>& inputs, bool (*holds)(const Tensor&)) const;
  /// All of it, which is given away, as the file of `execution` in `folder`.
  FileContent file(const ops::Execution& execution, std::string folder, uint64_t now);

 private:
  void keep(const char* side, const std::vector<ops::Seen>& all, std::vector<record::DumpTensor>& to);

  const bool statistics_;
  record::DumpData data_;
  std::vector<Blob> blobs_;
  std::string lines_;
};

}  // namespace npu::graph
