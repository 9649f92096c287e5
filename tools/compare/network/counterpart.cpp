// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/network/counterpart.h"

#include <fmt/format.h>

#include <charconv>

#include "graph/dump/record/format.h"
#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

struct Place {
  const RuleOp* op;
  size_t output;
};

/// Who makes an input.
Place producer(const RuleOp& op, size_t input, const FusionRule& rule) {
  if (input >= op.inputs.size())
    throw Refusal(Exit::kIndex, fmt::format("The input index ({}) is out of range ({}) for the operator list.", input,
                                            op.inputs.size()));
  const std::string& text = op.inputs[input];
  const size_t colon = text.rfind(':');
  size_t output = 0;
  const char* const end = text.data() + text.size();
  if (colon == text.npos || std::from_chars(text.data() + colon + 1, end, output).ptr != end)
    throw Refusal(Exit::kJson,
                  fmt::format("The input information ({}) is invalid. It only supports op_name:index.", text));
  return {&rule.find(text.substr(0, colon)), output};
}

/// Past operators that only bring elements into another type or format.
Place past_casts(Place at, const FusionRule& rule) {
  for (int steps = 0; at.op->type == "Cast" || at.op->type == "TransData"; ++steps) {
    if (steps == 1000) throw Refusal(Exit::kJson, fmt::format("{} reads itself.", at.op->name));
    at = producer(*at.op, at.output, rule);
  }
  return at;
}

}  // namespace

const Tensor& Counterpart::tensor(const Opened& opened) const {
  const size_t at = is_dump ? index : 0;
  if (at >= opened.outputs().size())
    throw Refusal(Exit::kIndex, fmt::format("The output index ({}) is out of range [0, {}). Please check the index.",
                                            at, opened.outputs().size()));
  return opened.outputs()[at];
}

std::string Counterpart::format(const Tensor& golden) const {
  return is_dump ? std::string(graph::record::format_name(golden.facts.format)) : origin.format;
}

Counterpart find_counterpart(const RuleOp& op, size_t index, bool input, const FusionRule& rule,
                             const DumpFolder& golden) {
  const Place at = past_casts(input ? producer(op, index, rule) : Place{&op, index}, rule);
  const auto none = [&](std::string reason) { return Refusal(Exit::kNoDump, std::move(reason)); };
  if (at.op->outputs.empty())
    throw none(fmt::format("The output description of the fusion operator \"{}\" is empty.", at.op->name));
  Counterpart found;
  found.origin = at.op->outputs[at.output < at.op->outputs.size() ? at.output : 0];
  if (found.origin.name.empty())
    throw none(fmt::format("The origin name of the {}:{} is empty.", at.op->name, at.output));
  found.index = found.origin.index.value_or(at.output);
  found.is_dump = golden.origin() == Origin::kDevice;
  const FoundFile* file = golden.find(found.origin.name, found.index);
  if (file == nullptr) throw none(fmt::format("There is no file for {}:{}.", found.origin.name, found.index));
  found.file = *file;
  return found;
}

bool restores_quantised(const RuleOp& op) {
  if (op.type == "AscendDequant") return true;
  for (const char* ending : {"_dequant_layer", "AscendDequant", "_dequant"})
    if (op.name.ends_with(ending)) return true;
  return false;
}

}  // namespace npu::compare
