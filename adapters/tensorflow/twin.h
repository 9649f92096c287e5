// SPDX-License-Identifier: Apache-2.0
// Variables of the NPU for nodes that TensorFlow runs: a twin on the host gets the value before and gives it back
// after. A data set keeps its variables for as long as it lives, so they move to their twin for good.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "adapters/tensorflow/owned.h"

namespace npu::tensorflow {

/// The inputs of one node of the host as handles of the host.
class HostInputs {
 public:
  HostInputs(TFE_Context* context, const char* op, std::span<anynpu_value* const> inputs);
  std::span<TFE_TensorHandle* const> handles() const { return raw_; }
  /// Brings what the node wrote back to the variables.
  void give_back();

 private:
  TFE_TensorHandle* variable(const char* op, anynpu_value* value);

  TFE_Context* context_;
  std::vector<TensorHandle> owned_;
  std::vector<TFE_TensorHandle*> raw_;
  std::vector<std::pair<anynpu_value*, TFE_TensorHandle*>> lent_;
};

}  // namespace npu::tensorflow
