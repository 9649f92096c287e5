// SPDX-License-Identifier: Apache-2.0
// Feeds and fetches: tensors of the Python package and values of the engine.
#pragma once

#include <memory>
#include <vector>

#include "adapters/tensorflow/c_api/functions.h"
#include "adapters/tensorflow/c_api/owned.h"

namespace npu::tensorflow {

/// A copy of what is fed, for `device`.
Value fed(const anynpu_session_tensor& tensor, const std::string& device);

/// Fetched values and what is read of them.
class Fetched {
 public:
  /// Raises InvalidArgument naming a fetch that is no tensor.
  explicit Fetched(std::vector<Value> values);
  const std::vector<anynpu_session_tensor>& tensors() const { return tensors_; }

 private:
  struct Texts {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
  };
  anynpu_session_tensor read(const anynpu_value* value);
  anynpu_session_tensor read_object(TFE_TensorHandle* handle);
  anynpu_session_tensor texts(int rank, const int64_t* sizes, std::unique_ptr<Texts> all);

  std::vector<Value> values_;
  std::vector<TensorPointer> held_;
  std::vector<std::unique_ptr<Texts>> texts_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> sizes_;
  std::vector<anynpu_session_tensor> tensors_;
};

}  // namespace npu::tensorflow
