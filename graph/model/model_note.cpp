// SPDX-License-Identifier: Apache-2.0
#include "graph/model/model_note.h"

#include <algorithm>
#include <array>

#include "base/json.h"

namespace npu::graph::model {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"none", "batch", "image", "dims"};

Json to_json(const Dims& dims) {
  Json out = Json::array();
  for (const int64_t size : dims) out.push_back(size);
  return out;
}

Dims to_dims(const Json& from) {
  Dims out;
  for (const Json& size : from) {
    const auto number = size.get<int64_t>();
    if (number < kUnknownDim) fail(Code::kParseFile, "a size of it is {}", number);
    out.push_back(number);
  }
  return out;
}

Json to_json(const Port& port) {
  Json out = {{"name", port.name},
              {"dtype", static_cast<int>(port.dtype)},
              {"format", port.format},
              {"shape", to_json(port.shape)}};
  if (!port.range.empty()) out["range"] = port.range;
  if (!port.aipp.empty()) out["aipp"] = port.aipp;
  return out;
}

Port to_port(const Json& from) {
  Port out;
  out.name = from.at("name").get<std::string>();
  out.dtype = static_cast<DType>(from.at("dtype").get<int>());
  if (size_of(out.dtype) == 0) fail(Code::kParseFile, "{} has elements of no size", out.name);
  out.format = from.at("format").get<int32_t>();
  out.shape = to_dims(from.at("shape"));
  out.range = from.value("range", out.range);
  out.aipp = from.value("aipp", "");
  bytes_of(out.dtype, out.shape);
  return out;
}

Json to_json(const std::vector<Dims>& shapes) {
  Json out = Json::array();
  for (const Dims& shape : shapes) out.push_back(to_json(shape));
  return out;
}

Json to_json(const Gear& gear) {
  return {{"values", gear.values}, {"inputs", to_json(gear.inputs)}, {"outputs", to_json(gear.outputs)}};
}

/// Shapes of these ports.
std::vector<Dims> to_shapes(const Json& from, const std::vector<Port>& ports) {
  std::vector<Dims> out;
  for (const Json& shape : from) out.push_back(to_dims(shape));
  for (size_t i = 0; i < std::min(out.size(), ports.size()); ++i) bytes_of(ports[i].dtype, out[i]);
  return out;
}

Gear to_gear(const Json& from, const Model& model) {
  return {from.at("values").get<std::vector<int64_t>>(), to_shapes(from.at("inputs"), model.inputs),
          to_shapes(from.at("outputs"), model.outputs)};
}

}  // namespace

Json to_note(const Model& model) {
  Json note = {{"name", model.name},
               {"function", model.function},
               {"gear_kind", kKinds[static_cast<size_t>(model.gear_kind)]},
               {"work_bytes", model.work_bytes},
               {"precision", model.precision},
               {"passes_off", model.passes_off},
               {"facts", model.facts}};
  note["inputs"] = note["outputs"] = note["gears"] = Json::array();
  for (const Port& port : model.inputs) note["inputs"].push_back(to_json(port));
  for (const Port& port : model.outputs) note["outputs"].push_back(to_json(port));
  for (const Gear& gear : model.gears) note["gears"].push_back(to_json(gear));
  return note;
}

Model from_note(const Json& note) {
  Model model;
  model.name = note.at("name").get<std::string>();
  model.function = note.at("function").get<std::string>();
  const auto* kind = std::ranges::find(kKinds, note.at("gear_kind").get<std::string>());
  if (kind == kKinds.end()) fail(Code::kParseFile, "its gears are of a kind that this library does not know");
  model.gear_kind = static_cast<GearKind>(kind - kKinds.begin());
  model.work_bytes = std::max<int64_t>(note.at("work_bytes").get<int64_t>(), 0);
  model.precision = note.at("precision").get<decltype(model.precision)>();
  model.passes_off = note.at("passes_off").get<std::vector<std::string>>();
  model.facts = note.at("facts").get<decltype(model.facts)>();
  for (const Json& port : note.at("inputs")) model.inputs.push_back(to_port(port));
  for (const Json& port : note.at("outputs")) model.outputs.push_back(to_port(port));
  for (const Json& gear : note.at("gears")) model.gears.push_back(to_gear(gear, model));
  if (model.gear_kind != GearKind::kNone && model.gears.empty()) fail(Code::kParseFile, "it has no gear");
  return model;
}

}  // namespace npu::graph::model
