// SPDX-License-Identifier: Apache-2.0
#include "graph/run/library.h"

#include "graph/ir/node_error.h"
#include "graph/ir/verify.h"
#include "graph/passes/pass.h"
#include "graph/run/busy.h"
#include "graph/run/executable.h"
#include "graph/run/fusion_choice.h"
#include "graph/run/saturation.h"
#include "graph/run/segments.h"
#include "graph/run/switched_off.h"

namespace npu::graph {

Library::Library(int device, HostNode host) : device_(device), host_(std::move(host)) {}

Library::~Library() = default;

void Library::add(const Program& program) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, function] : program.functions) {
    program_.add(function);
    rewritten_.erase(name);
    compiled_.erase(name);
    states_.erase(name);
  }
}

void Library::add_rewritten(const Program& program) {
  add(program);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, function] : program.functions) rewritten_.insert(name);
}

void Library::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto erase = [name](auto& map) {
    if (const auto at = map.find(name); at != map.end()) map.erase(at);
  };
  erase(program_.functions);
  rewritten_.erase(std::string(name));
  erase(compiled_);
  erase(states_);
  // And what passes made of it.
  const std::string prefix = variant_name(name, "");
  const auto erase_variants = [&](auto& map) {
    std::erase_if(map, [&](const auto& entry) { return entry.first.starts_with(prefix); });
  };
  erase_variants(program_.functions);
  erase_variants(compiled_);
  erase_variants(states_);
}

std::shared_ptr<NodeState> Library::state(const std::string& function, const std::string& node,
                                          const std::function<std::shared_ptr<NodeState>()>& make) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<NodeState>& state = states_[function.substr(0, function.find(kSharedBefore))][node];
  if (!state) state = make();
  return state;
}

void Library::switch_off(std::vector<std::string> passes) {
  const std::lock_guard lock(mutex_);
  off_ = std::move(passes);
  compiled_.clear();
}

void Library::overlap(bool on) {
  const std::lock_guard lock(mutex_);
  if (overlaps_ == on) return;
  overlaps_ = on;
  compiled_.clear();
}

std::vector<std::string> Library::set_precision(std::string_view option, std::string_view value) {
  const std::lock_guard lock(mutex_);
  Precision changed = precision_;
  std::vector<std::string> notices = changed.set(option, value);
  precision_ = std::move(changed);
  compiled_.clear();
  return notices;
}

void Library::restart_states() {
  const std::lock_guard lock(mutex_);
  for (const auto& [function, nodes] : states_)
    for (const auto& [node, state] : nodes) state->restart();
}

void Library::keep_in(std::shared_ptr<cache::Cache> cache) {
  const std::lock_guard lock(mutex_);
  cache_ = std::move(cache);
}

/// Passes over `function`, or what they once gave.
void Library::rewrite(Function& function, const PassOptions& options, Role role) {
  if (rewritten_.contains(function.name)) return listeners_.rewritten(function.name, {});
  if (!cache_ || role == Role::kOperator)
    return listeners_.rewritten(function.name, run_passes(function, program_, options));
  cache::Lookup lookup;
  listeners_.rewritten(function.name, cache_->run_passes(function, program_, options, lookup));
  listeners_.looked_up(function.name, lookup);
}

std::shared_ptr<Executable> Library::get(std::string_view name, Role role) {
  const std::lock_guard lock(mutex_);
  if (const auto at = compiled_.find(name); at != compiled_.end()) return at->second;
  const Compilation compilation(device::trace::HostWork::kPasses);
  Function function = program_.get(name);
  verify(function, program_);
  listeners_.met(function, role);
  const Cause cause = role == Role::kRoot ? predecessors_.meet(function) : Cause{};
  PassOptions options;
  options.skip = off_;
  options.precision = precision_;
  obey_environment(options);
  if (listeners_.wants_stages()) {
    options.watch = [&](std::string_view stage, const Function& f) { listeners_.staged(stage, f, program_, role); };
  }
  try {
    rewrite(function, options, role);
  } catch (NodeError& e) {
    e.put_around({client_name(function.name)});
    throw;
  }
  log_segments(function);
  compilation.finish(function, role, device_, cause);
  auto made = std::make_shared<Executable>(std::move(function), *this, role, false, cause);
  compiled_.emplace(std::string(name), made);
  return made;
}

bool Library::prefers_parts(const Node& node, std::span<const Planned> inputs) {
  return parts_are_faster(node, inputs, *this);
}

namespace {

std::vector<Value> call_host(Frame& frame, const HostStep& step, const std::vector<Value>& values) {
  const Busy::Pause pause;
  return frame.environment().host()(step.node, values);
}

}  // namespace

std::function<void(Frame&)> Library::on_host(HostStep step) {
  if (!host_) return {};
  return [step = std::move(step)](Frame& frame) {
    std::vector<Value> values;
    for (const Planned& input : step.inputs) values.push_back(frame.value(input));
    const HostRun run;
    std::vector<Value> results = call_host(frame, step, values);
    run.finish(step, frame.device(), values, results);
    saturate_from_host(frame.device(), values, results);
    frame.environment().listener().ran_on_host(step.function, step.node, step.reason, values, results);
    require(results.size() == step.outputs.size(), "the client gave {} values for {} outputs", results.size(),
            step.outputs.size());
    for (size_t i = 0; i < results.size(); ++i) frame.set(step.outputs[i], std::move(results[i]));
  };
}

}  // namespace npu::graph
