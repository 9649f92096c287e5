// SPDX-License-Identifier: Apache-2.0
// One run of a model, with all it needs of the client's data sets, so that these may be gone when it runs.
#pragma once

#include <memory>
#include <vector>

#include "acl/model/dataset.h"
#include "acl/model/loaded.h"
#include "graph/value/value.h"

namespace npu::acl {

/// What becomes of outputs for which the client has no memory.
enum class NoMemory : bool {
  kRefuse,
  kAllocate,  ///< they get some, which the client frees
};

class Job {
 public:
  /// Checks all that can be checked before the run. Raises what aclmdlExecute documents.
  Job(uint32_t model, const aclmdlDataset& input, aclmdlDataset& output, NoMemory no_memory);
  /// Runs the model and tells the data set of the outputs their shapes; may be called again (recorded work).
  void run() const;
  int device() const { return use_->model().device(); }

 private:
  struct Output {
    std::shared_ptr<DatasetEntry> entry;
    void* data;
    size_t bytes;
  };

  void add_input(const aclmdlDataset& input, size_t index);
  Dims shape_of(const DatasetEntry& entry, size_t index) const;
  void add_output(const DatasetEntry& entry, size_t index, NoMemory no_memory);
  void give(const graph::Value& result, size_t index) const;
  const ModelFacts& facts() const { return *use_->model().facts(); }

  std::unique_ptr<LoadedModel::Use> use_;
  size_t gear_ = 0;
  std::vector<graph::Value> arguments_;
  std::vector<Tensor> places_;  ///< of the outputs; no address where the size is not known before the run
  std::vector<Output> outputs_;
};

}  // namespace npu::acl
