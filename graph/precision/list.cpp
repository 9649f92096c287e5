// SPDX-License-Identifier: Apache-2.0
#include "graph/precision/list.h"

#include <algorithm>
#include <charconv>

namespace npu::graph {
namespace {

/// A line of the table as it is written: lists are separated by blanks, "-" stands for none.
struct Row {
  std::string_view op, unit, list, dtypes, attributes, fixed_inputs, fixed_outputs;
};

constexpr Row kRows[] = {
#include "precision.inc"
};

constexpr std::string_view kUnits[] = {"cube", "vector", "loss", "variable"};
constexpr std::string_view kLists[] = {"white", "gray", "black", "clear"};

template <class E, size_t N>
E named(const std::string_view (&names)[N], std::string_view name) {
  return static_cast<E>(std::find(names, names + N, name) - names);
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty() && text != "-") {
    out.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), out.back().size() + 1));
  }
  return out;
}

std::vector<size_t> numbers(std::string_view text) {
  std::vector<size_t> out;
  for (const std::string_view word : words(text))
    std::from_chars(word.data(), word.data() + word.size(), out.emplace_back());
  return out;
}

std::vector<DType> dtypes(std::string_view text) {
  std::vector<DType> out;
  for (const std::string_view word : words(text)) out.push_back(word == "float16" ? DType::kHalf : DType::kBFloat16);
  return out;
}

}  // namespace

bool OperatorPrecision::has(DType dtype) const {
  return dtype == DType::kFloat || std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

const std::vector<OperatorPrecision>& all_precision() {
  static const auto& all = *new std::vector<OperatorPrecision>([] {
    std::vector<OperatorPrecision> out;
    for (const Row& row : kRows)
      out.push_back({row.op, named<Unit>(kUnits, row.unit), named<List>(kLists, row.list), dtypes(row.dtypes),
                     words(row.attributes), numbers(row.fixed_inputs), numbers(row.fixed_outputs)});
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.op < b.op; });
    return out;
  }());
  return all;
}

const OperatorPrecision* find_precision(std::string_view op) {
  const auto& all = all_precision();
  const auto at =
      std::lower_bound(all.begin(), all.end(), op, [](const auto& a, std::string_view b) { return a.op < b; });
  return at == all.end() || at->op != op ? nullptr : &*at;
}

std::string_view to_string(Unit unit) { return kUnits[static_cast<size_t>(unit)]; }
std::string_view to_string(List list) { return kLists[static_cast<size_t>(list)]; }

}  // namespace npu::graph
