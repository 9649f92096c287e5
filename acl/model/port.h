// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs as clients count them: behind the inputs of a model with gears stands the one through which the
// gear is chosen.
#pragma once

#include <cstddef>

#include "acl/model/loaded.h"

namespace npu::acl {

enum class Side : bool { kInput, kOutput };

/// How many there are.
size_t port_count(const ModelFacts& facts, Side side);
/// Raises 100000 for an index that there is not.
graph::model::Port port_at(const ModelFacts& facts, Side side, size_t index);
/// The shape in a gear, or of the model where it has none.
const Dims& shape_in(const ModelFacts& facts, Side side, size_t index, size_t gear);
/// The gear whose inputs and outputs take most memory; 0 for a model without.
size_t largest_gear(const graph::model::Model& model);
/// Bytes in the largest gear; 0 where a size is known only with the call.
size_t largest_bytes(const ModelFacts& facts, Side side, size_t index);
/// Whether this input is the one through which the gear is chosen.
inline bool chooses_gear(const ModelFacts& facts, size_t index) {
  return facts.has_gears() && index == facts.model.inputs.size();
}

}  // namespace npu::acl
