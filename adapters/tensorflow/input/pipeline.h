// SPDX-License-Identifier: Apache-2.0
// Which data sets may be read ahead of the program: those whose elements nobody could tell to be early. What they are
// made of is known, none of it has an effect, and none reads what a program changes.
#pragma once

#include <memory>
#include <span>

#include "adapters/tensorflow/host/host.h"

namespace npu::tensorflow {

struct Pipeline {
  /// Its iterators draw seeds from the data set when they are made, so it matters when that is.
  bool shuffles = false;
};

/// The pipeline that operator `op` makes of its inputs; null when it may not be read ahead, or is none.
std::shared_ptr<const Pipeline> pipeline_of(TFE_Context* context, std::string_view op,
                                            std::span<const Attribute> attributes,
                                            std::span<anynpu_value* const> inputs);

/// Elements worth holding of an iterator with these attributes (output_types, output_shapes), as the vendor's adapter
/// has it: strings 64, unknown shapes 3, nothing 2, else 2 to 128, as many as 2 GiB hold.
size_t depth_of(std::span<const Attribute> attributes);

}  // namespace npu::tensorflow
