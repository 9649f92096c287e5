// SPDX-License-Identifier: Apache-2.0
// The one dump of a process: whether it is on, where it goes, and what it writes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/tensorflow/c_api/tf_api.h"

namespace npu::tensorflow::golden {

/// Elements of a tensor, which stay as they are while they are held.
struct Values {
  TF_DataType type;
  std::vector<int64_t> shape;
  std::shared_ptr<const void> elements;
  size_t bytes;
};

void set_on(bool on);
/// False too when a file could not be written: nothing more is dumped until set_on(true).
bool is_on();
void set_folder(std::string folder);
/// Hands an output of an operator to those who write; nothing while the dump is off, and for what has no numbers.
void put(std::string_view node, int64_t output, Values values);
/// Returns when all is written.
void finish();

}  // namespace npu::tensorflow::golden
