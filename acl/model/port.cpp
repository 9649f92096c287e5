// SPDX-License-Identifier: Apache-2.0
#include "acl/model/port.h"

#include <algorithm>

#include "acl/call.h"
#include "acl/include/acl/acl_base.h"

namespace npu::acl {
namespace {

using graph::model::Gear;
using graph::model::GearKind;
using graph::model::Model;
using graph::model::Port;

/// As many numbers as a gear has.
Port gear_port(const Model& model) {
  const auto count = static_cast<int64_t>(model.gears.front().values.size());
  return {std::string(graph::model::kGearInput), DType::kInt64, ACL_FORMAT_ND, {count}};
}

int64_t bytes_in(const Model& model, const Gear& gear) {
  int64_t bytes = 0;
  for (size_t i = 0; i < model.inputs.size(); ++i)
    bytes += graph::model::bytes_of(model.inputs[i].dtype, gear.inputs[i]);
  for (size_t i = 0; i < model.outputs.size(); ++i)
    bytes += graph::model::bytes_of(model.outputs[i].dtype, gear.outputs[i]);
  return bytes;
}

}  // namespace

size_t port_count(const ModelFacts& facts, Side side) {
  return side == Side::kInput ? facts.inputs() : facts.model.outputs.size();
}

Port port_at(const ModelFacts& facts, Side side, size_t index) {
  if (index >= port_count(facts, side))
    fail(Code::kInvalidParam, "index is {}; the model has {} {}", index, port_count(facts, side),
         side == Side::kInput ? "inputs" : "outputs");
  if (side == Side::kOutput) return facts.model.outputs[index];
  return chooses_gear(facts, index) ? gear_port(facts.model) : facts.model.inputs[index];
}

const Dims& shape_in(const ModelFacts& facts, Side side, size_t index, size_t gear) {
  const Model& model = facts.model;
  if (side == Side::kInput) return facts.has_gears() ? model.gears[gear].inputs[index] : model.inputs[index].shape;
  return facts.has_gears() ? model.gears[gear].outputs[index] : model.outputs[index].shape;
}

size_t largest_gear(const Model& model) {
  size_t found = 0;
  int64_t most = -1;
  for (size_t i = 0; i < model.gears.size(); ++i)
    if (const int64_t bytes = bytes_in(model, model.gears[i]); bytes > most) found = i, most = bytes;
  return found;
}

size_t largest_bytes(const ModelFacts& facts, Side side, size_t index) {
  const Port port = port_at(facts, side, index);
  if (side == Side::kInput && chooses_gear(facts, index))
    return static_cast<size_t>(graph::model::bytes_of(port.dtype, port.shape));
  size_t most = static_cast<size_t>(graph::model::bytes_of(port.dtype, shape_in(facts, side, index, 0)));
  for (size_t gear = 1; gear < facts.model.gears.size(); ++gear)
    most = std::max(most, static_cast<size_t>(graph::model::bytes_of(port.dtype, shape_in(facts, side, index, gear))));
  return most;
}

}  // namespace npu::acl
