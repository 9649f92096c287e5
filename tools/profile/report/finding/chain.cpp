// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {
namespace {

constexpr size_t kShortest = 3, kLongest = 64, kShown = 12;
/// Their results have the shape of their inputs, and an element needs more than its own place in them.
constexpr std::array<std::string_view, 10> kNotPointwise = {"Softmax", "Norm",   "Cum",  "Sort", "Dropout",
                                                            "DropOut", "Random", "Roll", "Flip", "Reverse"};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view shapes_of(std::string_view described) { return described.substr(0, described.find('|')); }

int64_t elements_of(std::string_view shape) {
  int64_t product = 1;
  for (size_t at = 0; at < shape.size();) {
    const size_t end = std::min(shape.find(',', at), shape.size());
    product *= std::atoll(std::string(shape.substr(at, end - at)).c_str());
    at = end + 1;
  }
  return product;
}

/// The shape of the one result, when no input has more elements; "" for what is no elementwise operator.
std::string_view shape_of(const Trace& trace, const TaskRecord& task) {
  const std::string_view output = shapes_of(trace.text(task.outputs)), type = trace.text(task.type);
  if (task.unit != device::trace::Unit::kVector || output.empty() || has(output, ";")) return {};
  if (std::ranges::any_of(kNotPointwise, [&](std::string_view part) { return has(type, part); })) return {};
  std::string_view inputs = shapes_of(trace.text(task.inputs));
  bool same = false;
  for (size_t at = 0; at <= inputs.size();) {
    const size_t end = std::min(inputs.find(';', at), inputs.size());
    const std::string_view input = inputs.substr(at, end - at);
    same |= input == output;
    if (elements_of(input) > elements_of(output)) return {};
    at = end + 1;
  }
  return same ? output : std::string_view();
}

/// Operators one after another on tensors of one shape, and how often.
struct Chain {
  std::vector<std::string_view> types;
  std::string_view shape;
  Total total;
  int64_t cost = 0;
  std::vector<Weighted> owners = {};
  bool operator<(const Chain& other) const { return cost < other.cost; }
};

class Chains {
 public:
  explicit Chains(const Facts& facts) : trace_(*facts.trace), owners_(facts.owners) {
    std::map<int32_t, std::vector<const TaskRecord*>> streams;
    for (const TaskRecord& task : facts.tasks) streams[task.stream].push_back(&task);
    for (const auto& [stream, tasks] : streams) find(tasks);
  }
  const std::map<std::string, Chain>& found() const { return found_; }

 private:
  using Run = std::span<const TaskRecord* const>;

  void find(const std::vector<const TaskRecord*>& tasks) {
    size_t begin = 0;
    for (size_t at = 0; at <= tasks.size(); ++at) {
      const bool goes_on = at < tasks.size() && at > begin && !shape_of(trace_, *tasks[begin]).empty() &&
                           shape_of(trace_, *tasks[at]) == shape_of(trace_, *tasks[begin]);
      if (at == begin || goes_on) continue;
      split(Run(tasks).subspan(begin, at - begin));
      begin = at;
    }
  }

  /// A loop makes one long run: what repeats in it is the chain.
  void split(Run run) {
    const size_t period = period_of(run);
    if (period < kShortest) return;
    for (size_t at = 0; at + period <= run.size(); at += period) add(run.subspan(at, period));
  }

  size_t period_of(Run run) const {
    for (size_t period = 1; period <= std::min(run.size() / 2, kLongest); ++period) {
      size_t at = period;
      while (at < run.size() && run[at]->type == run[at - period]->type) ++at;
      if (at == run.size()) return period;
    }
    return run.size();
  }

  /// Fused, it would read and write about as much as the one of them that moves most.
  void add(Run run) {
    std::string key;
    int64_t time = 0;
    uint64_t bytes = 0, most = 1;
    for (const TaskRecord* task : run) {
      key += fmt::format("{} ", task->type);
      time += task->end - task->start;
      bytes += task->bytes, most = std::max(most, task->bytes);
    }
    Chain& chain = found_[key += shape_of(trace_, *run.front())];
    if (chain.types.empty()) {
      for (const TaskRecord* task : run) chain.types.push_back(trace_.text(task->type));
      chain.shape = shape_of(trace_, *run.front());
    }
    chain.total.add(time);
    for (const TaskRecord* task : run) chain.owners.push_back({owners_.of(*task), task->end - task->start});
    const double kept = static_cast<double>(most) / static_cast<double>(std::max(bytes, most));
    chain.cost += static_cast<int64_t>(static_cast<double>(time) * (1 - kept));
  }

  const Trace& trace_;
  const Owners& owners_;
  std::map<std::string, Chain> found_;
};

}  // namespace

std::optional<Finding> chain_of(const Facts& facts) {
  const Chains chains(facts);
  if (chains.found().empty()) return {};
  const Chain* worst = nullptr;
  int64_t cost = 0;
  for (const auto& [key, chain] : chains.found()) {
    cost += chain.cost;
    if (worst == nullptr || *worst < chain) worst = &chain;
  }
  const size_t more = chains.found().size() - 1;
  const std::string others = more == 0 ? "" : fmt::format("; {} of other operators", counted(more, "chain"));
  return Finding{
      .title = fmt::format("a chain of {} elementwise operators is not fused", worst->types.size()),
      .cost = cost,
      .where = fmt::format("{} on {}, {} times, {} ms{}{}", fmt::join(worst->types | std::views::take(kShown), " "),
                           worst->shape, worst->total.count, milliseconds(worst->total.time),
                           and_module(facts, worst->owners), others),
      .cure =
          "one operator for all of it (gelu, silu, layer_norm, addcmul … and torch_npu's fused ones), "
          "or a graph, whose engine fuses elementwise operators (tf.function)"};
}

}  // namespace npu::profile
