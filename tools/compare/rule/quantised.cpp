// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/rule/quantised.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

namespace npu::compare {
namespace {

// How quantising tools name what they put in, for Caffe, TensorFlow and ONNX.
constexpr std::array<std::string_view, 5> kQuantise = {"_quant_layer", "/AscendQuant", "/AscendWeightQuant", ".quant",
                                                       ".weight_quant"};
constexpr std::array<std::string_view, 6> kRestore = {"_dequant_layer", "_anti_quant_layer", "/AscendDequant",
                                                      "/AntiQuant",     ".dequant",          ".anti_quant"};

bool names_one(std::span<const std::string_view> words, const std::string& name,
               const std::vector<std::string>& originals) {
  std::string all;
  for (const std::string& original : originals) all += original;
  return std::ranges::any_of(words,
                             [&](auto word) { return name.find(word) != name.npos || all.find(word) != all.npos; });
}

}  // namespace

bool QuantisedSpan::reads_quantised(const std::vector<std::string>& inputs) const {
  return std::ranges::any_of(inputs, [&](const std::string& input) {
    const size_t colon = input.rfind(':');
    if (colon == input.npos) return false;
    size_t index = 0;
    std::from_chars(input.data() + colon + 1, input.data() + input.size(), index);
    const auto at = outputs_.find(input.substr(0, colon));
    if (at == outputs_.end() || index >= at->second.size()) return false;
    return at->second[index] == Role::kQuantise || at->second[index] == Role::kInside;
  });
}

bool QuantisedSpan::holds(const std::string& name, const std::vector<std::string>& originals,
                          const std::vector<std::string>& inputs, const std::vector<std::string>& output_types) {
  const bool inside = reads_quantised(inputs);
  const bool quantises = names_one(kQuantise, name, originals), restores = names_one(kRestore, name, originals);
  std::vector<Role> roles;
  for (const std::string& type : output_types) {
    if (quantises && type == "DT_INT8")
      roles.push_back(Role::kQuantise);
    else if (restores && type == "DT_FLOAT16")
      roles.push_back(Role::kRestore);
    else
      roles.push_back(inside ? Role::kInside : Role::kPlain);
  }
  const bool ends = std::ranges::all_of(roles, [](Role role) { return role == Role::kRestore; });
  outputs_[name] = std::move(roles);
  return inside && !ends;
}

}  // namespace npu::compare
