// SPDX-License-Identifier: Apache-2.0
#include "graph/precision/precision.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "device/process/soc.h"
#include "graph/ir/ir_type.h"

namespace npu::graph {
namespace {

struct Word {
  std::string_view name;
  bool second;  ///< a word of precision_mode_v2
  PrecisionPolicy policy;
  DType reduced;
};

constexpr Word kWords[] = {
    {"force_fp16", false, PrecisionPolicy::kForce, DType::kHalf},
    {"allow_fp32_to_fp16", false, PrecisionPolicy::kCube, DType::kHalf},
    {"allow_fp32_to_bf16", false, PrecisionPolicy::kCube, DType::kBFloat16},
    {"force_fp32", false, PrecisionPolicy::kRaise, DType::kHalf},
    {"cube_fp16in_fp32out", false, PrecisionPolicy::kRaise, DType::kHalf},
    {"must_keep_origin_dtype", false, PrecisionPolicy::kOrigin, DType::kHalf},
    {"allow_mix_precision", false, PrecisionPolicy::kMixed, DType::kHalf},
    {"allow_mix_precision_fp16", false, PrecisionPolicy::kMixed, DType::kHalf},
    {"allow_mix_precision_bf16", false, PrecisionPolicy::kMixed, DType::kBFloat16},
    {"fp16", true, PrecisionPolicy::kForce, DType::kHalf},
    {"origin", true, PrecisionPolicy::kOrigin, DType::kHalf},
    {"cube_fp16in_fp32out", true, PrecisionPolicy::kRaise, DType::kHalf},
    {"mixed_float16", true, PrecisionPolicy::kMixed, DType::kHalf},
    {"mixed_bfloat16", true, PrecisionPolicy::kMixed, DType::kBFloat16},
};

PrecisionMode read_mode(std::string_view option, std::string_view value) {
  const bool second = option == "precision_mode_v2";
  const std::string_view name = value.empty() && !second ? device::soc().precision_mode : value;
  std::string names;
  for (const Word& word : kWords) {
    if (word.second != second) continue;
    names += (names.empty() ? "" : ", ") + std::string(word.name);
    if (word.name != name) continue;
    require(device::soc().has(word.reduced),
            "{} is {}, and {} has no {}; choose a mode of float16, or another SoC by ANYNPU_SOC", option, name,
            device::soc().name, name_of(word.reduced));
    return {std::string(name), word.policy, word.reduced};
  }
  fail(Code::kNnInvalidParam, "{} is '{}'; it is one of {}", option, value, names);
}

std::string by_list(List list, std::string_view reduced) {
  switch (list) {
    case List::kWhite: return std::string(reduced);
    case List::kGray: return "as what comes before it";
    case List::kClear: return "as what comes before it, else as what reads it";
    default: return "float32";
  }
}

template <class Rule>
const Rule* rule_of(const Node& node, const std::vector<Rule>& by_node, const std::vector<Rule>& by_operator,
                    bool& by_name) {
  const auto names = [&](const Rule& rule) { return rule.named == node.name || rule.named == node.client_name; };
  const auto calls = [&](const Rule& rule) { return is_called(node.op, rule.named); };
  by_name = true;
  if (const auto at = std::find_if(by_node.begin(), by_node.end(), names); at != by_node.end()) return &*at;
  by_name = false;
  const auto at = std::find_if(by_operator.begin(), by_operator.end(), calls);
  return at == by_operator.end() ? nullptr : &*at;
}

}  // namespace

PrecisionMode find_mode(std::string_view word) {
  if (word.empty()) return read_mode("precision_mode", word);
  std::string names;
  for (const Word& one : kWords) {
    if (one.name == word) return read_mode(one.second ? "precision_mode_v2" : "precision_mode", word);
    if (names.find(one.name) == std::string::npos) names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  fail(Code::kNnInvalidParam, "there is no precision mode {}; there are {}", word, names);
}

std::string effect_of(const PrecisionMode& mode, const OperatorPrecision& op) {
  constexpr const char* kAsWritten = "as the graph says";
  const bool cube = op.unit == Unit::kCube;
  if (mode.policy == PrecisionPolicy::kOrigin) return kAsWritten;
  if (op.unit == Unit::kVariable) return "as its variable";
  if (mode.policy == PrecisionPolicy::kRaise) return cube ? "float16 in, float32 out" : "float32";
  if (!op.has(mode.reduced)) return "float32";
  switch (mode.policy) {
    case PrecisionPolicy::kForce: return std::string(name_of(mode.reduced));
    case PrecisionPolicy::kCube: return cube ? std::string(name_of(mode.reduced)) : kAsWritten;
    default: return by_list(op.list, name_of(mode.reduced));
  }
}

std::vector<std::string> Precision::set(std::string_view option, std::string_view value) {
  std::vector<std::string> notices;
  if (option == "precision_mode" || option == "precision_mode_v2") {
    mode_ = read_mode(option, value);
    asked_ = !value.empty();
    if (mode_.policy == PrecisionPolicy::kMixed) take_edits();
  } else if (option == "modify_mixlist") {
    take_edits();
    notices = read_mixlist(value);
    if (mode_.policy != PrecisionPolicy::kMixed)
      notices.push_back(fmt::format("the lists count in mixed modes only, and the mode is {}", mode_.name));
  } else if (option == "customize_dtypes") {
    notices = read_dtypes(value);
    if (mode_.policy == PrecisionPolicy::kOrigin)
      notices.push_back(fmt::format("the mode {} keeps every dtype, so no rule acts", mode_.name));
  } else if (option == "op_precision_mode") {
    notices = read_implementations(value);
  } else if (option == "keep_dtype") {
    keep(value);
    return notices;
  } else {
    fail(Code::kNnInvalidParam,
         "there is no option {}; there are precision_mode, precision_mode_v2, modify_mixlist, customize_dtypes, "
         "op_precision_mode, keep_dtype",
         option);
  }
  note(option, value);
  return notices;
}

void Precision::note(std::string_view option, std::string_view value) {
  said_ += fmt::format("{} {} {}\n", option, value.size(), value);
}

void Precision::keep(std::string_view names) {
  note("keep", names);
  each_line(names, [&](std::string_view name) { kept_.emplace(name); });
}

void Precision::take_edits() {
  if (edited_) return;
  edited_ = edited_lists();
  std::string changes;
  for (const auto& [op, list] : edited_->lists) changes += fmt::format("{} {} ", op, to_string(list));
  if (!changes.empty()) note("ops_info", changes);
}

List Precision::list_of(const OperatorPrecision& op, std::string_view& by) const {
  by = {};
  if (const auto at = moved_.find(op.op); at != moved_.end()) return by = "modify_mixlist", at->second;
  if (!edited_) return op.list;
  const auto at = edited_->lists.find(op.op);
  if (at == edited_->lists.end()) return op.list;
  by = edited_->file;
  return at->second;
}

const DTypeRule* Precision::dtype_rule(const Node& node, bool& by_name) const {
  return rule_of(node, node_dtypes_, operator_dtypes_, by_name);
}

const ImplementationRule* Precision::implementation_rule(const Node& node) const {
  bool by_name = false;
  return rule_of(node, node_implementations_, operator_implementations_, by_name);
}

}  // namespace npu::graph
