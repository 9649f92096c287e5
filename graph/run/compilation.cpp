// SPDX-License-Identifier: Apache-2.0
#include "graph/run/compilation.h"

#include <algorithm>

#include "device/trace/recorder.h"
#include "graph/passes/pass.h"
#include "graph/plan/change.h"
#include "graph/run/run_scope.h"

namespace npu::graph {
namespace {

namespace trace = device::trace;

int64_t start_here() { return trace::on() ? trace::now() : 0; }

/// "__inference_step" of "__inference_step_59".
std::string_view without_number(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && last > 0 && name[last] == '_' ? name.substr(0, last) : name;
}

/// An operator that the client runs alone is known by its type: its function's name is ours.
std::string known_name(const Function& function, Role role) {
  if (role == Role::kOperator)
    for (const Node& node : function.nodes)
      if (!node.removed && node.kind != Kind::kArgument && node.kind != Kind::kConstant) return node.op;
  return client_name(function.name);
}

uint64_t bytes_of_tensors(std::span<const Value> values) {
  uint64_t sum = 0;
  for (const Value& value : values)
    if (!value.object) sum += static_cast<uint64_t>(bytes_of(value.tensor));
  return sum;
}

trace::GraphRecord begun(trace::HostWork work, int64_t start, int device) {
  trace::GraphRecord record;
  record.start = start, record.end = trace::now();
  record.thread = trace::thread_number(), record.work = work, record.device = device;
  return record;
}

}  // namespace

Cause Predecessors::meet(const Function& function) {
  Known now;
  for (const Argument& argument : function.arguments) {
    now.names.push_back(argument.name);
    now.types.push_back(to_string(argument.value.type) + to_string(argument.value.shape));
  }
  const auto [place, is_first] = known_.try_emplace(std::string(without_number(function.name)), now);
  if (is_first) return {};
  const Known before = std::exchange(place->second, now);
  const std::string start = "a function of this name was handed over before, ";
  if (before.types.size() != now.types.size())
    return {trace::Need::kAnew,
            start + fmt::format("and took {} arguments in place of {}", before.types.size(), now.types.size())};
  if (before.types == now.types) return {trace::Need::kAnew, start + "with arguments of the same types and shapes"};
  return {trace::Need::kAnew, start + "and " + change_between(function, before.types, now.types)};
}

Compilation::Compilation(trace::HostWork work) : work_(work), start_(start_here()) {}

void Compilation::finish(const Function& function, Role role, int device, const Cause& cause) const {
  if (start_ == 0 || !trace::on()) return;
  trace::GraphRecord record = begun(work_, start_, device);
  record.graph = trace::number_of(known_name(function, role));
  record.need = cause.need, record.reason = trace::number_of(cause.text);
  trace::add(record);
}

HostRun::HostRun() : start_(start_here()) {}

void HostRun::finish(const HostStep& step, int device, std::span<const Value> in, std::span<const Value> out) const {
  if (start_ == 0 || !trace::on()) return;
  trace::GraphRecord record = begun(trace::HostWork::kNode, start_, device);
  const RunScope* const scope = RunScope::current();
  record.graph = trace::number_of(scope != nullptr ? scope->graph() : client_name(step.function));
  record.name = trace::number_of(step.node.client_name), record.type = trace::number_of(step.node.op);
  record.reason = trace::number_of(step.reason);
  record.bytes = bytes_of_tensors(in) + bytes_of_tensors(out);
  trace::add(record);
}

}  // namespace npu::graph
