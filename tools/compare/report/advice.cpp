// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace npu::compare {
namespace {

constexpr double kGood = 0.99;

/// Nothing for cells that are no number.
std::optional<double> value_of(const std::string& cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || std::isnan(value)) return std::nullopt;
  return value;
}

bool is_low(const AdviceRow& row) { return value_of(row.cosine).value_or(1) < kGood; }

std::string lines(const char* type, const std::string& index, const char* advice) {
  return fmt::format("Detection Type: {}\nOperator Index: {}\nExpert Advice: {}\n", type, index, advice);
}

std::string of_consistency(const std::vector<AdviceRow>& rows) {
  const auto low = std::ranges::find_if(rows, is_low);
  const auto last =
      std::find_if(rows.rbegin(), rows.rend(), [](const AdviceRow& r) { return value_of(r.cosine).has_value(); });
  if (last == rows.rend()) return lines("NA", "NA", "NA");
  if (low == rows.end())
    return lines(
        "Global Consistency", "NA",
        "All tensors agree. If the model's results are still not good enough, look at what is done with its outputs.");
  const bool lasting = is_low(*last);
  return lines("Global Consistency", fmt::to_string(low->index),
               lasting
                   ? "From here on some tensors are far from the golden's, and the last one is: as after quantisation. "
                     "Look at this operator first."
                   : "Some tensors are far from the golden's, but the last one is not: an optimisation may have moved "
                     "what they hold.");
}

}  // namespace

std::string advice_of(const std::vector<AdviceRow>& rows, const std::vector<std::string>& graph_inputs) {
  const auto overflow = std::ranges::find(rows, "YES", &AdviceRow::overflow);
  if (overflow != rows.end())
    return lines("FP16 Overflow", fmt::to_string(overflow->index),
                 "A float16 overflowed here. Cure that first, then compare again.");
  for (const std::string& input : graph_inputs) {
    const auto bad = std::ranges::find_if(rows, [&](const AdviceRow& r) { return r.op == input && is_low(r); });
    if (bad != rows.end())
      return lines("Input Inconsistent", fmt::to_string(bad->index),
                   "Both sides were fed with different data. Use the same, or look at how they are prepared.");
  }
  return of_consistency(rows);
}

}  // namespace npu::compare
