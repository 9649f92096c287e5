// SPDX-License-Identifier: Apache-2.0
// Dumps of the NPU against what the client's framework left, by the graph that says what became of its operators.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "tools/compare/network/counterpart.h"
#include "tools/compare/network/network.h"

namespace npu::compare {
namespace {

/// Element types as NumPy calls what they are read as.
std::string type_word(const View& view) {
  switch (view.type->number) {
    case 27: return "float32";
    case 29: return "uint8";
    case 33:
    case 34:
    case 35: return "float64";
    default: return std::string(view.type->word);
  }
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); }

/// How the operators of a group, and those that they stand for, are named in a row.
struct Names {
  std::string mine, golden;
};

class Group {
 public:
  Group(const DumpFolder& mine, const DumpFolder& golden, const FusionRule& rule, size_t group, const Options& options)
      : mine_(mine), golden_(golden), rule_(rule), members_(rule.groups()[group]), options_(options) {}

  Outcome compare() {
    if (members_.size() == 1) return one();
    return rule_.op(members_[0]).l1_group.empty() ? many(members_) : many(ends());
  }

 private:
  Outcome one() {
    const RuleOp& op = rule_.op(members_[0]);
    Outcome found;
    if (op.quantised) return found;
    const std::string golden = joined(op.originals);
    const Names names{op.name, golden.empty() ? "*" : golden};
    try {
      add_operator(op, names, found);
      found.matched = !found.rows.empty();
    } catch (const Refusal& reason) {
      found.code = reason.code();
      add_failure(op, names, reason.what(), found);
    }
    if (found.rows.empty()) add_failure(op, names, "", found);
    return found;
  }

  /// Operators that stand together for one or several: those at the border are compared.
  Outcome many(const std::vector<size_t>& wanted) {
    const Names names = all_names();
    Outcome found;
    std::vector<std::string> reasons;
    for (const size_t index : wanted) {
      const RuleOp& op = rule_.op(index);
      if (op.quantised) continue;
      if (op.is_inner()) {
        reasons.push_back(fmt::format("[{}] The op is inner node for multi to multi relation.Skip the op.", op.name));
        continue;
      }
      try {
        add_operator(op, names, found);
        found.matched = true;
      } catch (const Refusal& reason) {
        found.code = reason.code();
        if (reason.code() == Exit::kNoDump)
          reasons.push_back(reason.what());
        else
          found.matched = true, add_failure(op, names, "", found);
      }
    }
    if (found.rows.empty()) add_failure(rule_.op(members_[0]), names, joined(reasons), found);
    return found;
  }

  /// The first and the last of those that share a buffer on the chip, by their time.
  std::vector<size_t> ends() const {
    std::vector<std::pair<uint64_t, size_t>> dumped;
    for (const size_t index : members_)
      if (const FoundFile* file = mine_.find(rule_.op(index).name)) dumped.emplace_back(file->timestamp, index);
    if (dumped.empty()) return members_;
    std::ranges::stable_sort(dumped, {}, &std::pair<uint64_t, size_t>::first);
    const size_t first = dumped.front().second, last = dumped.back().second;
    if (rule_.op(first).originals == rule_.op(last).originals) return {last};
    return {first, last};
  }

  Names all_names() const {
    std::vector<std::string> mine, golden;
    std::map<std::string, std::vector<std::string>> by_originals;
    for (const size_t index : members_) {
      const std::string originals = joined(rule_.op(index).originals);
      auto& names = by_originals[originals];
      if (names.empty()) golden.push_back(originals);
      names.push_back(rule_.op(index).name);
    }
    for (const std::string& originals : golden)
      for (const std::string& name : by_originals[originals]) mine.push_back(name);
    return {joined(mine), joined(golden)};
  }

  void add_failure(const RuleOp& op, const Names& names, const std::string& reason, Outcome& to) const {
    TensorRow row;
    row.op_type = op.type, row.mine = names.mine, row.golden = names.golden, row.reason = reason;
    to.rows.emplace_back(op.sequence, std::move(row));
  }

  void add_operator(const RuleOp& op, const Names& names, Outcome& to) const {
    const FoundFile* file = mine_.find(op.name);
    if (file == nullptr)
      throw Refusal(Exit::kNoDump,
                    fmt::format("[{0}] There is no dump file for my output operator \"{0}\". The type is {1}.", op.name,
                                op.type));
    const Opened opened(*file);
    const auto each = [&](const std::vector<Tensor>& tensors, bool input) {
      for (size_t i = 0; i < tensors.size(); ++i)
        to.rows.emplace_back(op.sequence, row_of(op, names, opened, tensors[i], i, input));
    };
    if (!restores_quantised(op)) each(opened.inputs(), true);
    if (op.type != "AscendQuant") each(opened.outputs(), false);
  }

  TensorRow row_of(const RuleOp& op, const Names& names, const Opened& file, const Tensor& tensor, size_t index,
                   bool input) const {
    TensorRow row;
    row.op_type = op.type, row.mine = names.mine, row.golden = names.golden, row.my_address = address_of(tensor);
    row.tensor = fmt::format("{}:{}:{}", op.name, input ? "input" : "output", index);
    row.shape = bracketed(tensor.facts.shape);
    try {
      if (options_.overflow) row.overflow = overflow_of(tensor);
      fill(op, file, tensor, index, input, row);
    } catch (const Refusal& reason) {
      row.metrics.clear();
      row.reason = reason.what();
      if (reason.code() == Exit::kNoDump)
        row.reason = fmt::format("[{}] There is no the ground truth dump file for {}.", op.name, row.tensor);
      if (reason.code() == Exit::kFractalNz) row.reason = fmt::format("[{}] {}", op.name, reason.what());
    }
    return row;
  }

  void fill(const RuleOp& op, const Opened& file, const Tensor& tensor, size_t index, bool input,
            TensorRow& row) const {
    const Counterpart counterpart = find_counterpart(op, index, input, rule_, golden_);
    const Opened opened(counterpart.file);
    const Tensor& golden = counterpart.tensor(opened);
    const std::string format = counterpart.format(golden);
    const Shape& shape = counterpart.is_dump ? golden.facts.shape : counterpart.origin.shape;
    const Match found = match(tensor, golden, format, shape);
    row.shape = bracketed(found.mine.shape);
    const Shape& seen = found.mine.shape;
    const bool scalar = is_scalar(seen);
    const bool boolean = found.mine.type->number == 11 && found.golden.type->number == 11;
    compare_views(found.mine, found.golden, {scalar, boolean, file.path(), opened.path()}, options_, row);
    row.my_type = type_word(found.mine), row.golden_type = type_word(found.golden);
  }

  const DumpFolder& mine_;
  const DumpFolder& golden_;
  const FusionRule& rule_;
  const std::vector<size_t>& members_;
  const Options& options_;
};

}  // namespace

std::vector<Outcome> compare_by_rule(const DumpFolder& mine, const DumpFolder& golden, const FusionRule& rule,
                                     const std::vector<size_t>& groups, const Options& options) {
  std::vector<Task> tasks;
  for (const size_t group : groups) {
    uint64_t bytes = 0;
    std::error_code ignored;
    for (const size_t op : rule.groups()[group])
      if (const FoundFile* file = mine.find(rule.op(op).name)) bytes += std::filesystem::file_size(file->path, ignored);
    tasks.push_back({bytes, [&mine, &golden, &rule, group, &options] {
                       return Group(mine, golden, rule, group, options).compare();
                     }});
  }
  return run_all(tasks);
}

}  // namespace npu::compare
