// SPDX-License-Identifier: Apache-2.0
// Dumps of the NPU on both sides.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "graph/dump/record/format.h"
#include "tools/compare/network/network.h"

namespace npu::compare {
namespace {

namespace record = graph::record;

/// Names of element types as this mode's columns have them.
std::string type_word(const Tensor& tensor) { return std::string(record::data_type(tensor.facts.data_type).word); }

struct Pair {
  const std::string& op;
  const Opened& mine;
  const Opened& golden;
  const Options& options;
};

/// Why the inputs (or outputs) of both sides cannot be compared; empty where they can.
std::string obstacle(const Pair& pair, const char* kind, const std::vector<Tensor>& mine,
                     const std::vector<Tensor>& golden) {
  if (mine.size() != golden.size())
    return fmt::format("[{}] The number of {} does not match ({} vs {}).", pair.op, kind, mine.size(), golden.size());
  if (mine.empty()) return fmt::format("[{0}] There is no {1}. Skip the {0}:{1}.", pair.op, kind);
  for (size_t i = 0; i < mine.size(); ++i)
    if (mine[i].facts.shape != golden[i].facts.shape)
      return fmt::format("[{0}] The shape does not match ({1} vs {2}) for {0}:{3}:{4}.", pair.op,
                         shape_text(mine[i].facts.shape), shape_text(golden[i].facts.shape), kind, i);
  return "";
}

TensorRow row_of(const Pair& pair, const char* kind, size_t index, const Tensor& mine, const Tensor& golden) {
  TensorRow row;
  row.op_type = op_type_of(pair.mine.path());
  row.mine = row.golden = pair.op;
  row.my_type = type_word(mine), row.golden_type = type_word(golden);
  row.my_address = address_of(mine), row.golden_address = address_of(golden);
  row.tensor = fmt::format("{}:{}:{}", pair.op, kind, index);
  const bool bare = mine.facts.data_type == 0 && mine.facts.size != 0;
  row.shape = bracketed(bare ? Shape{mine.facts.size} : mine.facts.shape);
  try {
    if (pair.options.overflow) row.overflow = overflow_of(mine);
    compare_views(restored_view(mine), restored_view(golden),
                  {is_scalar(mine.facts.shape), false, pair.mine.path(), pair.golden.path()}, pair.options, row);
  } catch (const Refusal& reason) {
    row.reason = reason.what();
  }
  return row;
}

/// Adds rows for one direction; gives why there are none.
std::string compare_kind(const Pair& pair, const char* kind, const std::vector<Tensor>& mine,
                         const std::vector<Tensor>& golden, Outcome& outcome) {
  std::string reason = obstacle(pair, kind, mine, golden);
  if (!reason.empty()) return reason;
  for (size_t i = 0; i < mine.size(); ++i) outcome.rows.emplace_back(0, row_of(pair, kind, i, mine[i], golden[i]));
  return "";
}

Outcome alone(const std::string& op, bool mine) {
  Outcome found{{}, Exit::kNoDump, false};
  TensorRow& row = found.rows.emplace_back(0, TensorRow{}).second;
  row.op_type = "NaN", row.mine = mine ? op : "*", row.golden = mine ? "*" : op;
  row.reason =
      fmt::format("[{0}] There is no the {1} dump file for the op \"{0}\".", op, mine ? "ground truth" : "my output");
  return found;
}

Outcome compare_op(const std::string& op, const FoundFile& mine, const FoundFile& golden, const Options& options) {
  Outcome found{{}, Exit::kOk, true};
  try {
    const Opened left(mine), right(golden);
    const Pair pair{op, left, right, options};
    const std::string inputs = compare_kind(pair, "input", left.inputs(), right.inputs(), found);
    const std::string outputs = compare_kind(pair, "output", left.outputs(), right.outputs(), found);
    if (!found.rows.empty()) return found;
    found.code = Exit::kDamaged;
    found.rows.emplace_back(0, TensorRow{}).second.reason = inputs + "," + outputs;
  } catch (const Refusal& reason) {
    found.code = reason.code();
    found.rows.emplace_back(0, TensorRow{}).second.reason = reason.what();
  }
  TensorRow& row = found.rows.back().second;
  row.op_type = "NaN", row.mine = row.golden = op;
  return found;
}

uint64_t bytes_of(const FoundFile& file) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(file.path, ignored);
  return ignored ? 0 : size;
}

}  // namespace

std::vector<Outcome> compare_same_names(const DumpFolder& mine, const DumpFolder& golden, const Options& options) {
  std::vector<Task> tasks;
  for (const std::string& op : mine.operators()) {
    const FoundFile *left = mine.find(op), *right = golden.find(op);
    if (right == nullptr)
      tasks.push_back({0, [op] { return alone(op, true); }});
    else
      tasks.push_back(
          {bytes_of(*left), [op, left, right, &options] { return compare_op(op, *left, *right, options); }});
  }
  for (const std::string& op : golden.operators())
    if (mine.find(op) == nullptr) tasks.push_back({0, [op] { return alone(op, false); }});
  return run_all(tasks);
}

}  // namespace npu::compare
