// SPDX-License-Identifier: Apache-2.0
// What an operator has to do, on whatever chip: operations, bytes, what goes over links.
#pragma once

#include <optional>
#include <string>

#include "tools/profile/report/model/tensor.h"
#include "tools/profile/trace/folder.h"

namespace npu::profile {

using Tensors = std::vector<Listed>;

struct Work {
  device::trace::Unit unit = device::trace::Unit::kVector;
  double cube = 0;             ///< operations of products, a multiply-add counted as two
  std::string cube_type = {};  ///< of what is multiplied
  double vector = 0;           ///< operations on one element
  double vector_width = 4;     ///< bytes of such an element
  double bytes = 0;            ///< read and written
  bool told = true;            ///< false: its operations cannot be told from the record, its bytes alone are counted
  double ranks = 0, to_peer = 0, sent = 0;  ///< of a collective: bytes to each other rank, and to all of them
  std::string missing = {};                 ///< what a record would have to say for it to be modelled
};

/// `ranks` of a collective's communicator as far as collections show them; 0: unknown.
Work work_of(const Trace& trace, const TaskRecord& task, double ranks = 0);

/// Operations, where they can be told. Whether operands are transposed need not be known, only which sizes meet.
std::optional<double> product_operations(const Tensors& inputs, const Tensors& outputs);
std::optional<double> convolution_operations(std::string_view type, const Tensors& inputs, const Tensors& outputs);
struct AttentionOperations {
  double cube = 0, vector = 0;
};
std::optional<AttentionOperations> attention_operations(std::string_view type, const Tensors& inputs,
                                                        const Tensors& outputs);
/// Adds what goes over links: each rank has a link to each other one and gives its part directly.
void add_exchange(std::string_view type, const Tensors& inputs, const Tensors& outputs, double given, double ranks,
                  Work& work);

}  // namespace npu::profile
