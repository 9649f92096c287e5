// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/network/mapping_table.h"

#include <fmt/ranges.h>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/network/counterpart.h"
#include "tools/compare/report/csv.h"

namespace npu::compare {
namespace {

class Writer {
 public:
  Writer(const DumpFolder& mine, const DumpFolder& golden, const FusionRule& rule, bool sequence)
      : mine_(mine), golden_(golden), rule_(rule), sequence_(sequence) {}

  void put(const RuleOp& op) {
    const FoundFile* file = mine_.find(op.name);
    if (file == nullptr) return line(op, "NaN", "NaN", "NaN");
    try {
      const Opened opened(*file);
      for (size_t i = 0; i < opened.inputs().size() && !restores_quantised(op); ++i) tensor(op, *file, i, true);
      for (size_t i = 0; i < opened.outputs().size() && op.type != "AscendQuant"; ++i) tensor(op, *file, i, false);
    } catch (const Refusal&) {
      line(op, "NaN", file->path, "NaN");
    }
  }
  std::string text = header();

 private:
  std::string header() const {
    Cells cells{"Index", "OpType", "NPUDump", "GroundTruth", "TensorIndex", "NPUDumpPath", "GroundTruthPath"};
    if (sequence_) cells.insert(cells.begin() + 1, "OpSequence");
    return csv_line(cells);
  }

  void tensor(const RuleOp& op, const FoundFile& file, size_t index, bool input) {
    const std::string id = fmt::format("{}:{}:{}", op.name, input ? "input" : "output", index);
    try {
      line(op, id, file.path, find_counterpart(op, index, input, rule_, golden_).file.path);
    } catch (const Refusal&) {
      line(op, id, file.path, "NaN");
    }
  }

  void line(const RuleOp& op, const std::string& tensor, const std::string& mine, const std::string& golden) {
    const std::string originals = fmt::format("{}", fmt::join(op.originals, ","));
    Cells cells{fmt::to_string(op.group), op.type, op.name, originals.empty() ? "*" : originals, tensor, mine, golden};
    if (sequence_) cells.insert(cells.begin() + 1, fmt::to_string(op.sequence));
    text += csv_line(cells);
  }

  const DumpFolder& mine_;
  const DumpFolder& golden_;
  const FusionRule& rule_;
  bool sequence_;
};

}  // namespace

std::string mapping_table(const DumpFolder& mine, const DumpFolder& golden, const FusionRule& rule,
                          const std::vector<size_t>& groups, bool sequence) {
  Writer writer(mine, golden, rule, sequence);
  for (const size_t group : groups)
    for (const size_t op : rule.groups()[group]) writer.put(rule.op(op));
  return std::move(writer.text);
}

}  // namespace npu::compare
