// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/face/network_request.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "tools/compare/face/face.h"
#include "tools/compare/face/selection.h"
#include "tools/compare/network/mapping_table.h"
#include "tools/compare/network/network.h"
#include "tools/compare/report/advice.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(Exit code, const char* text) { throw Refusal(code, text); }

/// Which options a pair of folders needs, and which it does not take.
void check(const NetworkRequest& r, Origin mine, Origin golden) {
  const bool rule = !r.rule.empty(), quantised = !r.quantised_rule.empty(), closed = !r.closed_rule.empty();
  if (mine == Origin::kStandard)
    refuse(Exit::kDumpType, "-m holds what the framework left; it has to hold dumps of the NPU.");
  if (mine == Origin::kQuantized) {
    if (golden != Origin::kStandard)
      refuse(Exit::kDumpType, "A quantised model is compared with the model it was made of.");
    if (!quantised)
      refuse(Exit::kDumpType, "To compare a quantised model with its original, the -q parameter is required.");
    if (rule || closed) refuse(Exit::kDumpType, "A quantised model in its framework has no -f and no -cf.");
    return;
  }
  if (golden != Origin::kDevice) {
    if (!rule)
      refuse(Exit::kParameter,
             "To compare a dump of the NPU with what the framework left, the -f parameter is required.");
    if (closed) refuse(Exit::kParameter, "-cf is for dumps of the NPU on both sides.");
    return;
  }
  if (rule && !closed)
    refuse(Exit::kParameter, "Both sides are dumps of the NPU: with -f, the -cf parameter is required.");
  if (closed && !rule) refuse(Exit::kParameter, "With -cf, the -f parameter is required.");
  if (quantised)
    refuse(Exit::kParameter, "Both sides are dumps of the NPU: there is no need to enter the -q parameter.");
}

std::optional<FusionRule> read_rule(const NetworkRequest& r) {
  if (r.rule.empty() && r.quantised_rule.empty()) return std::nullopt;
  FusionRule rule(r.rule.empty() ? r.quantised_rule : r.rule);
  if (!r.closed_rule.empty()) rule.rename_originals(FusionRule(r.closed_rule));
  if (!r.rule.empty() && !r.quantised_rule.empty()) rule.rename_originals(FusionRule(r.quantised_rule));
  return rule;
}

struct Table {
  std::string text;
  Exit code = Exit::kOk;
  bool matched = false;
  std::vector<AdviceRow> advice;
};

Table table_of(const std::vector<Outcome>& outcomes, const std::vector<size_t>& indices, const Options& options) {
  Table found{csv_line(header(options)), Exit::kOk, false, {}};
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (found.code == Exit::kOk) found.code = outcomes[i].code;
    found.matched |= outcomes[i].matched;
    for (const auto& [sequence, row] : outcomes[i].rows) {
      found.text += csv_line(cells(indices[i], sequence, row, options));
      found.advice.push_back({indices[i], row.mine, row.overflow, row.metrics.empty() ? "" : row.metrics[0]});
    }
  }
  return found;
}

void advise(const Table& table, const FusionRule* rule, const std::string& output) {
  const std::vector<std::string> none;
  const std::string advice = advice_of(table.advice, rule == nullptr ? none : rule->input_nodes());
  inform("The summary of the expert advice is as follows: ");
  inform(advice);
  write_file(fs::path(output) / "advisor_summary.txt", advice);
}

void tell_slices(const DumpFolder& folder) {
  const std::vector<std::string> names = folder.sliced();
  if (!names.empty())
    warn(
        fmt::format("{}: of {} operators there are several slices (FFTS+), as of {}. They are not put together: the "
                    "newest one is compared; to compare another one, put its files alone into a folder.",
                    folder.path(), names.size(), names[0]));
}

}  // namespace

int compare_network(NetworkRequest r, const std::string& file) {
  if (r.advisor && !(r.range.empty() && r.select.empty()))
    warn("-advisor takes no effect with -r and -s."), r.advisor = false;
  const DumpFolder mine(r.mine), golden(r.golden);
  check(r, mine.origin(), golden.origin());
  tell_slices(mine), tell_slices(golden);
  Options& options = r.options;
  options.overflow = (options.overflow || r.advisor) && mine.origin() == Origin::kDevice;
  options.my_address = !mine.has_npy(), options.golden_address = !golden.has_npy();
  options.sequence = !r.range.empty() || !r.select.empty();
  const std::optional<FusionRule> rule = read_rule(r);
  std::vector<size_t> indices = rule ? selected_groups(*rule, r.range, r.select) : std::vector<size_t>{};
  const std::string path = fs::absolute(fs::path(r.output) / file).lexically_normal();
  if (r.mapping) {
    write_file(path, mapping_table(mine, golden, *rule, indices, options.sequence));
    inform(fmt::format("The mapping table result have been written to \"{}\".", path));
    return 0;
  }
  const auto outcomes =
      rule ? compare_by_rule(mine, golden, *rule, indices, options) : compare_same_names(mine, golden, options);
  if (!rule)
    for (size_t i = 0; i < outcomes.size(); ++i) indices.push_back(i);
  const Table table = table_of(outcomes, indices, options);
  write_file(path, table.text);
  if (!table.matched)
    throw Refusal(Exit::kNoDump,
                  "The model does not match the dump data, please check the model and the dump data again.");
  inform(fmt::format("The comparison result have been written to \"{}\".", path));
  if (r.advisor) advise(table, rule ? &*rule : nullptr, r.output);
  return static_cast<int>(table.code);
}

int compare_single(const NetworkRequest& r, const TensorChoice& choice, DetailOptions options) {
  const DumpFolder mine(r.mine), golden(r.golden);
  check(r, mine.origin(), golden.origin());
  tell_slices(mine), tell_slices(golden);
  const std::optional<FusionRule> rule = read_rule(r);
  options.folder = r.output.empty() ? "." : r.output;
  compare_operator(choice, mine, golden, rule ? &*rule : nullptr, options);
  inform(fmt::format("The details have been written to \"{}\".",
                     fs::absolute(options.folder).lexically_normal().string()));
  return 0;
}

}  // namespace npu::compare
