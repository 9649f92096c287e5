// SPDX-License-Identifier: Apache-2.0
#include "graph/convert/retype.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/tensor.h"
#include "graph/convert/refusal.h"

namespace npu::graph::convert {
namespace {

Edge add_cast(Function& f, Edge from, DType to) {
  const ValueType from_type = f.output(from).type, to_type = ValueType::tensor(to);
  Node node{.name = fmt::format("{}/{}", f[from.node].name, name_of(to)), .kind = Kind::kCast, .inputs = {from}};
  node.outputs = {{to_type, f.output(from).shape}};
  const auto set = [&](const char* name, const Attribute& value) {
    node.attributes.set(name, value, f.dialect->encoded(value));
  };
  set("SrcT", from_type), set("DstT", to_type), set("Truncate", false);
  return {f.add(std::move(node)), 0};
}

template <class List>
std::string names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.push_back(one.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The model takes half precision, and its nodes see what they saw before.
void take_half(Function& f, const std::string& name) {
  const auto at = std::ranges::find(f.arguments, name, &Argument::name);
  if (at == f.arguments.end()) {
    if (f.find(name) >= 0)
      refuse("E10017", "--input_fp16_nodes: {} is no input of the model; its inputs are {}", name,
             names_of(f.arguments));
    refuse("E10016", "--input_fp16_nodes: the model has no node {}; its inputs are {}", name, names_of(f.arguments));
  }
  if (at->value.type.dtype == DType::kHalf) return;
  if (!is_floating(at->value.type.dtype))
    refuse("E10001", "--input_fp16_nodes: input {} is of {}, which half precision does not stand for", name,
           at->value.type.dtype);
  const NodeId id = at->node;
  const DType before = at->value.type.dtype;
  const ValueType half = ValueType::tensor(DType::kHalf);
  at->value.type = f[id].outputs[0].type = half;
  if (f[id].attributes.has("T")) f[id].attributes.set("T", half, f.dialect->encoded(half));
  const Edge cast = add_cast(f, {id, 0}, before);
  const Edge argument{id, 0};
  f.replace(argument, cast);
  f[cast.node].inputs = {argument};
}

/// The result that --output_type names: as NODE:INDEX of the client's model, or by its own name.
Result& result_of(Function& f, const Imported& imported, const OutputType& type) {
  const auto node = imported.nodes.find(type.node);
  if (node != imported.nodes.end() && static_cast<size_t>(type.index) < node->second.size()) {
    const auto value = imported.values.find(node->second[static_cast<size_t>(type.index)]);
    for (Result& result : f.results)
      if (value != imported.values.end() && result.value == value->second) return result;
  }
  for (Result& result : f.results)
    if (result.name == type.node || result.name == fmt::format("{}:{}", type.node, type.index)) return result;
  refuse("E10016", "--output_type: {}:{} is no output of the model; its outputs are {}", type.node, type.index,
         names_of(f.results));
}

void give(Function& f, Result& result, DType dtype) {
  const ValueType now = f.output(result.value).type;
  if (now.dtype == dtype || !now.is_tensor()) return;
  result.value = add_cast(f, result.value, dtype);
}

}  // namespace

void retype(Imported& imported, const Request& request) {
  Function& f = imported.program.get(imported.function);
  // Results first: they are found by the edges that the importer knows.
  std::vector<std::pair<Result*, DType>> wanted;
  for (const OutputType& type : request.output_types)
    if (!type.node.empty()) wanted.emplace_back(&result_of(f, imported, type), type.dtype);
  for (const OutputType& type : request.output_types)
    if (type.node.empty())
      for (Result& result : f.results)
        if (is_floating(f.output(result.value).type.dtype)) wanted.emplace_back(&result, type.dtype);
  for (const auto& [result, dtype] : wanted) give(f, *result, dtype);
  for (const std::string& name : request.half_inputs) take_half(f, name);
}

}  // namespace npu::graph::convert
