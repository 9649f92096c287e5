// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/dump/record/data_type.h"
#include "tools/compare/page/account.h"
#include "tools/compare/report/csv.h"

namespace npu::compare {
namespace {

Cells header() {
  Cells cells = {"Index",          "Operator", "Type",    "Originals", "Output",         "DataType",
                 "GoldenDataType", "Shape",    "Verdict", "Relative",  "Allowed",        "ULP",
                 "WorstIndex",     "Mine",     "Golden",  "NotFinite", "GoldenNotFinite"};
  for (const std::string_view name : kMetricNames) cells.emplace_back(name);
  cells.emplace_back("Reason");
  return cells;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string line_of(const Account& a, const Finding& finding, size_t k) {
  const Operator& op = a.mine.operators[finding.op];
  const Deviation& d = finding.outputs[k];
  const Port& golden = *a.pairing.outputs[finding.op][k];
  const auto number = [](double value) { return fmt::format("{:.9g}", value); };
  Cells cells = {std::to_string(finding.op),
                 op.name,
                 op.type,
                 joined(op.originals),
                 std::to_string(k),
                 std::string(graph::record::data_type(op.outputs[k].type).word),
                 std::string(graph::record::data_type(golden.type).word),
                 shape_text(op.outputs[k].shape),
                 std::string(word_of(finding.standing))};
  if (d.known) {
    for (const double value : {d.relative(), finding.worst == k ? finding.allowed : 0, d.ulp})
      cells.push_back(number(value));
    cells.insert(cells.end(), {place_text(d.worst, d.shape), number(d.mine), number(d.golden),
                               std::to_string(d.not_finite_mine), std::to_string(d.not_finite_golden)});
  }
  if (d.known)
    for (const auto& [name, value] : metrics_of(op.outputs[k], golden)) cells.push_back(value);
  cells.resize(header().size() - 1);
  cells.push_back(d.reason);
  return csv_line(cells);
}

}  // namespace

std::string table_of(const Account& a) {
  std::string text = csv_line(header());
  for (const Finding& finding : a.verdict.findings)
    for (size_t k = 0; k < finding.outputs.size(); ++k)
      if (a.pairing.outputs[finding.op][k] != nullptr) text += line_of(a, finding, k);
  return text;
}

}  // namespace npu::compare
