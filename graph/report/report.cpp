// SPDX-License-Identifier: Apache-2.0
#include "graph/report/report.h"

#include <algorithm>

#include "base/json.h"
#include "base/log.h"
#include "graph/ir/control_flow.h"
#include "graph/plan/lowering.h"
#include "graph/run/segments.h"
#include "ops/runner/turn.h"

namespace npu::graph {
namespace {

constexpr size_t kMostRetired = 256;
constexpr size_t kMostCauses = 8;  // of one function; the oldest goes first

int64_t count_nodes(const Function& function, bool (*counts)(const Node&)) {
  return std::count_if(function.nodes.begin(), function.nodes.end(),
                       [&](const Node& node) { return !node.removed && counts(node); });
}

bool is_operator(const Node& node) { return node.kind != Kind::kArgument; }

bool is_unknown(const Node& node) {
  return is_operator(node) && node.kind != Kind::kConstant && find_meaning(node.type()) == nullptr;
}

int64_t count_collectives(const Plan& plan) {
  return std::ranges::count_if(plan.steps,
                               [](const Step& step) { return step.def != nullptr && step.def->is(ops::kTakesTurns); });
}

int64_t bytes_of(std::span<const Value> values) {
  int64_t sum = 0;
  for (const auto& [tensor, owner, object] : values)
    if (!object) sum += bytes_of(tensor);
  return sum;
}

Json names_of(const std::vector<DType>& dtypes, DType otherwise) {
  auto out = Json::array();
  for (const DType dtype : dtypes) out.push_back(name_of(dtype == DType::kUndefined ? otherwise : dtype));
  return out;
}

Json json_of(const NodePrecision& node) {
  return {{"node", node.node},
          {"op", node.op},
          {"source", name_of(node.source)},
          {"dtype", name_of(node.compute)},
          {"inputs", names_of(node.inputs, node.compute)},
          {"outputs", names_of(node.outputs, node.compute)},
          {"why", node.why}};
}

bool is_loop(const Node& node) { return node.kind == Kind::kWhile; }

}  // namespace

void Report::met(const Function& function, Role role) {
  const std::lock_guard lock(mutex_);
  functions_[function.name].role = role;
}

void Report::watch(std::function<void(const Compiled&)> watch) {
  const std::lock_guard lock(mutex_);
  watch_ = std::move(watch);
}

void Report::planned(const PlanMade& made) {
  const auto& [function, role, continues, plan, milliseconds, cause, with_shapes, program] = made;
  if (!cause.empty()) NPU_LOG(kInfo, "GRAPH", "function {} is compiled again: {}", function.name, cause);
  const std::unique_lock lock(mutex_);
  Entry& entry = functions_[function.name];
  if (++entry.plans == 1) entry.graph = ++graphs_;
  entry.compile_ms += milliseconds;
  if (!continues) entry.nodes = count_nodes(function, is_operator), entry.segments = segments_of(function);
  entry.collectives = (continues ? entry.collectives : 0) + count_collectives(plan);
  // Several plans of one function are its shapes, or its parts; the largest tells what a run needs.
  entry.peak_bytes = std::max(entry.peak_bytes, plan.arena_bytes);
  entry.live_bytes = std::max(entry.live_bytes, plan.live_bytes);
  if (!cause.empty()) {
    ++entry.recompiles;
    entry.causes.push_back(cause);
    if (entry.causes.size() > kMostCauses) entry.causes.pop_front();
  }
  // What is left of a function is news only when it is made again.
  if (!watch_ || entry.role != Role::kRoot || (continues && cause.empty())) return;
  watch_({function.name, entry.graph, entry.plans, cause, milliseconds, entry.nodes,
          std::max(plan.host_nodes, count_nodes(function, is_unknown)), count_nodes(function, is_loop), entry.cache});
}

void Report::looked_up(const std::string& function, const cache::Lookup& lookup) {
  NPU_LOG(kInfo, "GRAPH", "compile cache: function {}: {}", function, to_string(lookup));
  const std::lock_guard lock(mutex_);
  functions_[function].cache = to_string(lookup);
}

void Report::ran_on_host(const std::string& function, const Node& node, std::string_view reason,
                         std::span<const Value> in, std::span<const Value> out) {
  const std::lock_guard lock(mutex_);
  Entry& entry = functions_[function];
  entry.host_nodes.insert(node.name);
  Host& host = entry.host[node.op];
  host.reason = reason;
  ++host.runs;
  host.bytes += bytes_of(in) + bytes_of(out);
}

void Report::rewritten(const std::string& function, const std::vector<PassReport>& passes) {
  const std::lock_guard lock(mutex_);
  Entry& entry = functions_[function];
  entry.fusions.clear();
  entry.unfused.clear();
  entry.precision.clear();
  for (const PassReport& pass : passes) {
    if (pass.group != FusionGroup::kNone && pass.fusion.matched > 0)
      entry.fusions.push_back({std::string(pass.name), pass.group, pass.fusion});
    if (!pass.precision.empty()) entry.precision = pass.precision;
  }
}

void Report::overlapped(const std::string& function, const Overlap& overlap) {
  const std::lock_guard lock(mutex_);
  Overlap& all = functions_[function].overlap;
  all.collectives += overlap.collectives, all.busy_ms += overlap.busy_ms, all.waited_ms += overlap.waited_ms;
}

void Report::unfused(const std::string& function, const Node& node, const std::string& reason) {
  NPU_LOG(kInfo, "GRAPH", "function {}: the parts of {} run one by one: {}", function, node.name, reason);
  const std::lock_guard lock(mutex_);
  ++functions_[function].unfused[reason];
}

void Report::retire(const std::string& function) {
  const std::lock_guard lock(mutex_);
  if (!functions_.contains(function)) return;
  retired_.push_back(function);
  if (retired_.size() <= kMostRetired) return;
  functions_.erase(retired_.front());
  retired_.pop_front();
}

void Report::forget(const std::string& function) {
  const std::lock_guard lock(mutex_);
  functions_.erase(function);
}

std::string Report::json() const {
  const std::lock_guard lock(mutex_);
  auto functions = Json::array();
  for (const auto& [name, entry] : functions_) {
    auto host = Json::array();
    for (const auto& [op, one] : entry.host)
      host.push_back({{"op", op}, {"reason", one.reason}, {"runs", one.runs}, {"bytes", one.bytes}});
    const auto host_nodes = static_cast<int64_t>(entry.host_nodes.size());
    auto fusions = Json::array();
    for (const auto& [pass, group, count] : entry.fusions)
      fusions.push_back(
          {{"pass", pass}, {"matched", count.matched}, {"effective", count.effective}, {"declined", count.declined}});
    auto precision = Json::array();
    for (const NodePrecision& node : entry.precision) precision.push_back(json_of(node));
    functions.push_back({{"name", name},
                         {"device", device_},
                         {"cache", entry.cache},
                         {"plans", entry.plans},
                         {"nodes", entry.nodes},
                         {"native_nodes", std::max<int64_t>(entry.nodes - host_nodes, 0)},
                         {"host_nodes", host_nodes},
                         {"compile_ms", entry.compile_ms},
                         {"peak_bytes", entry.peak_bytes},
                         {"live_bytes", entry.live_bytes},
                         {"recompiles", entry.recompiles},
                         {"causes", entry.causes},
                         {"segments", entry.segments},
                         {"collectives", entry.collectives},
                         {"beside", entry.overlap.collectives},
                         {"beside_ms", entry.overlap.busy_ms},
                         {"waited_ms", entry.overlap.waited_ms},
                         {"host", host},
                         {"fusions", fusions},
                         {"unfused", entry.unfused},
                         {"precision", precision}});
  }
  return Json{{"functions", functions}}.dump(-1, InvalidUtf8::kReplace);
}

std::string Report::fusion_json() const {
  const std::lock_guard lock(mutex_);
  auto out = Json::object();
  for (const auto& [name, entry] : functions_) {
    if (entry.fusions.empty() || entry.graph == 0) continue;
    Json graph{{"graph_name", name}};
    for (const char* group : {"graph_fusion", "ub_fusion"}) graph[group] = Json::object();
    for (const auto& [pass, group, count] : entry.fusions) {
      Json times{{"match_times", std::to_string(count.matched)}, {"effect_times", std::to_string(count.effective)}};
      if (group == FusionGroup::kBuffer) times["repository_hit_times"] = "0";
      graph[group == FusionGroup::kGraph ? "graph_fusion" : "ub_fusion"][pass] = std::move(times);
    }
    out[fmt::format("session_and_graph_id_{}_{}", device_, entry.graph)] = std::move(graph);
  }
  return out.dump(1, InvalidUtf8::kReplace);
}

}  // namespace npu::graph
