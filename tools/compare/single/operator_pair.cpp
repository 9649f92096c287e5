// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/single/operator_pair.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "graph/dump/record/format.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/network/counterpart.h"

namespace npu::compare {
namespace {

namespace record = graph::record;

const Tensor& tensor_of(const Opened& opened, const TensorChoice& choice) {
  const auto& all = choice.input ? opened.inputs() : opened.outputs();
  if (choice.index < all.size()) return all[choice.index];
  throw Refusal(Exit::kIndex, fmt::format("[{}] The {} index ({}) is out of range [0, {}). Please check the index.",
                                          choice.op, choice.input ? "input" : "output", choice.index, all.size()));
}

Opened open(const DumpFolder& folder, const std::string& op, std::string_view side) {
  if (const FoundFile* file = folder.find(op)) return Opened(*file);
  throw Refusal(Exit::kNoDump,
                fmt::format("[{}] There is no dump file for the operator in {} ({}).", op, folder.path(), side));
}

/// Names in one cell: commas would end it.
std::string in_a_cell(std::string names) {
  std::ranges::replace(names, ',', ' ');
  return names;
}

std::string axes_of(const Tensor& mine, const std::string& golden_format) {
  if (is_deep(mine.facts.format)) return "N C D H W";
  if (mine.facts.format == record::kFractalZ) return fmt::format("{}", fmt::join(golden_format, " "));
  return mine.facts.shape.empty() ? "ID" : "N C H W";
}

Detail detail_of(const TensorChoice& choice, const Opened& file) {
  std::string name = fmt::format("{}_{}_{}", choice.op, choice.input ? "input" : "output", choice.index);
  std::ranges::replace(name, '/', '_');
  return {name, std::filesystem::path(file.path()).filename(), in_a_cell(choice.op), in_a_cell(choice.op), ""};
}

void compare_same_name(const TensorChoice& choice, const DumpFolder& mine, const DumpFolder& golden,
                       const DetailOptions& options) {
  const Opened left = open(mine, choice.op, "my side"), right = open(golden, choice.op, "the golden's side");
  const Tensor &a = tensor_of(left, choice), &b = tensor_of(right, choice);
  if (a.facts.shape != b.facts.shape)
    throw Refusal(Exit::kDamaged, fmt::format("My shape {} of {} is not the golden's, {}.", shape_text(a.facts.shape),
                                              choice.op, shape_text(b.facts.shape)));
  if (a.facts.format != b.facts.format)
    throw Refusal(Exit::kFormat,
                  fmt::format("My {} of {} is not in the golden's format, {}.", record::format_name(a.facts.format),
                              choice.op, record::format_name(b.facts.format)));
  Detail detail = detail_of(choice, left);
  detail.axes = is_deep(a.facts.format) ? "N C D H W" : a.facts.shape.empty() ? "ID" : "N C H W";
  write_detail(detail, plain_view(a), plain_view(b), options);
}

/// The operators that stand together with it, and those that they stand for.
void name_group(const RuleOp& op, const FusionRule& rule, Detail& detail) {
  std::vector<std::string> mine, golden;
  for (const size_t index : rule.groups()[op.group]) {
    mine.push_back(rule.op(index).name);
    const std::string originals = fmt::format("{}", fmt::join(rule.op(index).originals, " "));
    if (std::ranges::find(golden, originals) == golden.end()) golden.push_back(originals);
  }
  detail.mine = in_a_cell(fmt::format("{}", fmt::join(mine, " ")));
  detail.golden = in_a_cell(fmt::format("{}", fmt::join(golden, " ")));
  if (detail.golden.empty()) detail.golden = "*";
}

void compare_by_rule(const TensorChoice& choice, const DumpFolder& mine, const DumpFolder& golden,
                     const FusionRule& rule, const DetailOptions& options) {
  const RuleOp& op = rule.find(choice.op);
  if (op.is_inner())
    throw Refusal(Exit::kUnsupported, fmt::format("[{}] stands inside of several operators that were made of several: "
                                                  "choose one of those at the border.",
                                                  op.name));
  if (op.quantised)
    throw Refusal(Exit::kUnsupported,
                  fmt::format("[{}] works on quantised numbers, which have no counterpart.", op.name));
  const Opened left = open(mine, choice.op, "my side");
  const Tensor& tensor = tensor_of(left, choice);
  const Counterpart counterpart = find_counterpart(op, choice.index, choice.input, rule, golden);
  const Opened right(counterpart.file);
  const Tensor& truth = counterpart.tensor(right);
  const std::string format = counterpart.format(truth);
  const Match found =
      match_by_axes(tensor, truth, format, counterpart.is_dump ? truth.facts.shape : counterpart.origin.shape);
  Detail detail = detail_of(choice, left);
  name_group(op, rule, detail);
  detail.axes = axes_of(tensor, format);
  write_detail(detail, found.mine, found.golden, options);
}

}  // namespace

void compare_operator(const TensorChoice& choice, const DumpFolder& mine, const DumpFolder& golden,
                      const FusionRule* rule, const DetailOptions& options) {
  rule == nullptr ? compare_same_name(choice, mine, golden, options)
                  : compare_by_rule(choice, mine, golden, *rule, options);
}

}  // namespace npu::compare
