// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/rule/fusion_rule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/json.h"
#include "graph/dump/record/graph_text.h"
#include "graph/dump/record/mapped_file.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/rule/quantised.h"

namespace npu::compare {
namespace {

/// The `value` of an attribute; null where there is none.
const Json& attribute(const Json& owner, std::string_view key) {
  static const Json none;
  const auto attrs = owner.find("attr");
  if (attrs == owner.end()) return none;
  for (const Json& attr : *attrs)
    if (attr.at("key") == key) return attr.at("value");
  return none;
}

template <class T>
T attribute_as(const Json& owner, std::string_view key, const char* kind, T otherwise) {
  const Json& value = attribute(owner, key);
  return value.is_null() || !value.contains(kind) ? otherwise : value.at(kind).get<T>();
}

/// Whether the attribute is there, and what its list holds; an empty list stands for one empty name.
bool read_originals(const Json& op, std::vector<std::string>& names) {
  const Json& value = attribute(op, "_datadump_original_op_names");
  if (value.is_null()) return false;
  names = {""};
  if (value.contains("list") && value.at("list").contains("s"))
    names = value.at("list").at("s").get<std::vector<std::string>>();
  return true;
}

OriginOutput origin_of(const Json& desc, size_t index) {
  OriginOutput found;
  found.name = attribute_as<std::string>(desc, "_datadump_origin_name", "s", "");
  found.index = attribute_as<size_t>(desc, "_datadump_origin_output_index", "i", index);
  found.format = attribute_as<std::string>(desc, "_datadump_origin_format", "s", "");
  if (found.format.empty()) found.format = attribute_as<std::string>(desc, "origin_format", "s", "");
  const Json& shape = attribute(desc, "origin_shape");
  if (!shape.is_null() && shape.contains("list") && shape.at("list").contains("i"))
    for (const Json& size : shape.at("list").at("i")) found.shape.push_back(size.get<uint64_t>());
  found.data_type = desc.contains("dtype") && desc.at("dtype").is_string() ? desc.at("dtype").get<std::string>() : "";
  return found;
}

std::vector<std::string> data_inputs(const Json& op) {
  std::vector<std::string> found;
  if (op.contains("input"))
    for (const Json& input : op.at("input"))
      if (std::string name = input.get<std::string>(); !name.empty() && !name.ends_with(":-1"))
        found.push_back(std::move(name));
  return found;
}

std::vector<OriginOutput> origin_outputs(const Json& op) {
  std::vector<OriginOutput> found;
  if (!op.contains("output_desc")) return found;
  size_t index = 0;
  for (const Json& desc : op.at("output_desc")) {
    if (desc.contains("attr")) found.push_back(origin_of(desc, index));
    ++index;
  }
  return found;
}

/// What an operator and those that stand for the same ones have in common.
std::string group_key(const RuleOp& op) {
  if (!op.l1_group.empty()) return op.l1_group;
  if (op.originals.empty() || (op.originals.size() == 1 && op.originals[0].empty())) return op.name;
  return fmt::format("{}", fmt::join(op.originals, "\n"));
}

/// Outputs without a name of their own get this one.
void name_outputs(std::vector<OriginOutput>& outputs, const std::string& name) {
  if (outputs.empty()) outputs.push_back({name, std::nullopt, "", {}, ""});
  for (OriginOutput& output : outputs)
    if (output.name.empty()) output.name = name;
}

Json read_graph(const std::string& path) {
  try {
    const graph::record::MappedFile file(path);
    const std::string_view text = file.text();
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first != text.npos && text[first] == '{') return Json::parse(text);
    return graph::record::parse_graph_text(text);
  } catch (const JsonError& reason) {
    throw Refusal(Exit::kJson, fmt::format("{} is no fusion file: {}", path, reason.what()));
  } catch (const Error& reason) {
    if (reason.code() != Code::kParseFile) throw Refusal(Exit::kPath, reason.message());
    throw Refusal(Exit::kJson, fmt::format("{}: {}", path, reason.message()));
  }
}

}  // namespace

bool RuleOp::is_inner() const {
  return multiple && std::ranges::all_of(outputs, [](const OriginOutput& output) { return output.name.empty(); });
}

FusionRule::FusionRule(const std::string& path) {
  const Json graph = read_graph(path);
  try {
    for (const Json& one : graph.at("graph")) {
      if (one.contains("op"))
        for (const Json& op : one.at("op")) add(op);
      name_origins();
    }
  } catch (const JsonError& reason) {
    throw Refusal(Exit::kJson, fmt::format("{} is no graph: {}", path, reason.what()));
  }
  by_sequence_.resize(ops_.size());
  std::iota(by_sequence_.begin(), by_sequence_.end(), size_t{0});
  std::ranges::stable_sort(by_sequence_, {}, [&](size_t i) { return ops_[i].sequence; });
  mark_quantised();
}

void FusionRule::add(const Json& json_op) {
  RuleOp op;
  op.name = json_op.at("name").get<std::string>(), op.type = json_op.at("type").get<std::string>();
  if (op.type == "Data") input_nodes_.push_back(op.name);
  op.inputs = data_inputs(json_op), op.outputs = origin_outputs(json_op);
  if (!read_originals(json_op, op.originals)) op.originals = {op.name}, name_outputs(op.outputs, op.name);
  op.l1_group = attribute_as<std::string>(json_op, "_L1_fusion_sub_graph_no", "s", "");
  op.multiple = attribute_as<bool>(json_op, "_datadump_is_multiop", "b", false);
  if (json_op.contains("id")) op.sequence = json_op.at("id").get<int64_t>();
  const auto [group, added] = group_of_.try_emplace(group_key(op), groups_.size());
  if (added) groups_.emplace_back();
  op.group = group->second;
  auto& members = groups_[op.group];
  if (std::ranges::any_of(members, [&](size_t i) { return ops_[i].name == op.name; })) return;
  members.push_back(ops_.size());
  by_name_.insert_or_assign(op.name, ops_.size());
  ops_.push_back(std::move(op));
}

void FusionRule::name_origins() {
  for (const auto& members : groups_) {
    RuleOp& op = ops_[members[0]];
    if (members.size() == 1 && op.originals.size() == 1 && group_key(op) == op.originals[0])
      name_outputs(op.outputs, op.originals[0]);
  }
}

void FusionRule::mark_quantised() {
  QuantisedSpan span;
  for (const size_t index : by_sequence_) {
    RuleOp& op = ops_[index];
    std::vector<std::string> types;
    for (const OriginOutput& output : op.outputs) types.push_back(output.data_type);
    op.quantised = span.holds(op.name, op.originals, op.inputs, types);
  }
}

const RuleOp& FusionRule::find(const std::string& name) const {
  const auto at = by_name_.find(name);
  if (at == by_name_.end())
    throw Refusal(Exit::kParameter, fmt::format("There is no \"{}\" in the fusion rule file.", name));
  return ops_[at->second];
}

void FusionRule::rename_originals(const FusionRule& closed) {
  std::map<std::string, const RuleOp*> maker;
  for (const RuleOp& op : closed.ops_)
    for (const std::string& original : op.originals) maker[original] = &op;
  for (RuleOp& op : ops_) {
    for (OriginOutput& output : op.outputs) {
      const auto at = maker.find(output.name);
      if (output.name.empty() || at == maker.end()) continue;
      const auto& outputs = at->second->outputs;
      const auto same = std::ranges::find_if(
          outputs, [&](const OriginOutput& o) { return o.name == output.name && o.index == output.index; });
      if (same != outputs.end()) output.index = static_cast<size_t>(same - outputs.begin());
      output.name = at->second->name;
    }
    if (op.originals.size() == 1 && op.originals[0].empty()) continue;
    std::vector<std::string> names;
    for (const std::string& original : op.originals)
      if (const auto at = maker.find(original);
          at != maker.end() && std::ranges::find(names, at->second->name) == names.end())
        names.push_back(at->second->name);
    op.originals = std::move(names);
  }
}

}  // namespace npu::compare
