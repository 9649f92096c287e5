// SPDX-License-Identifier: Apache-2.0
#include "graph/run/executable.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/error.h"
#include "device/context/state.h"
#include "graph/ir/node_error.h"
#include "graph/passes/pass.h"
#include "graph/plan/change.h"
#include "graph/plan/planner.h"
#include "graph/plan/refusal.h"
#include "graph/run/busy.h"
#include "graph/run/collective_order.h"
#include "graph/run/deadline.h"
#include "graph/run/run_scope.h"
#include "ops/runner/observer.h"

namespace npu::graph {
namespace {

constexpr size_t kMostIdleFrames = 4;       // of one plan
constexpr int64_t kLargestKeyed = 1 << 16;  // bytes of a value that plans are made for

Literal literal_of(const Tensor& tensor) {
  const auto* bytes = tensor.bytes();
  return {ValueType::tensor(tensor.dtype), tensor.shape,
          std::make_shared<const std::vector<std::byte>>(bytes, bytes + bytes_of(tensor)), nullptr};
}

ArgumentTraits traits_of(const Argument& argument, const Value& value, bool by_value) {
  ArgumentTraits traits{argument.value.type, value.tensor, nullptr, value.object};
  if (const auto* variable = dynamic_cast<const Variable*>(value.object.get())) traits.tensor = variable->meta();
  if (!value.object) traits.type = ValueType::tensor(value.tensor.dtype);
  traits.too_long = !value.object && bytes_of(value.tensor) > kLargestKeyed;
  if (by_value && !traits.too_long) traits.literal = std::make_shared<const Literal>(literal_of(value.tensor));
  traits.tensor.data = nullptr;
  return traits;
}

std::vector<ArgumentTraits> traits_of(const Function& f, std::span<const Value> arguments,
                                      const std::vector<bool>& by_value) {
  std::vector<ArgumentTraits> out;
  for (size_t i = 0; i < arguments.size(); ++i) out.push_back(traits_of(f.arguments[i], arguments[i], by_value[i]));
  return out;
}

/// A plan's key tells the types, so this is asked once a plan.
void check_types(const Function& f, std::span<const ArgumentTraits> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueType &wanted = f.arguments[i].value.type, &given = arguments[i].type;
    require(is_object(wanted) || arguments[i].object || wanted.dtype == given.dtype,
            "cannot compute {} as input #{}(zero-based) was expected to be a {} tensor but is a {} tensor", f.name, i,
            wanted.dtype, given.dtype);
  }
}

void append(std::string& key, const void* bytes, size_t count) { key.append(static_cast<const char*>(bytes), count); }

/// What traits_of says of an argument, in a few bytes.
void append(std::string& key, const Value& value, bool by_value) {
  Tensor known;
  const auto* variable = dynamic_cast<const Variable*>(value.object.get());
  if (variable != nullptr) known = variable->meta();
  const Tensor& tensor = variable != nullptr ? known : value.tensor;
  append(key, &tensor.dtype, sizeof tensor.dtype);
  const uint8_t rank = static_cast<uint8_t>(tensor.shape.size());
  append(key, &rank, 1);
  append(key, tensor.shape.data(), rank * sizeof(int64_t));
  if (by_value) append(key, tensor.bytes(), static_cast<size_t>(bytes_of(tensor)));
  if (!value.object) return;
  key += variable != nullptr ? 'v' : 'o';
  value.object->add_traits(key);
}

int64_t next_use() {
  static std::atomic<int64_t> count = 0;
  return count.fetch_add(1, std::memory_order_relaxed);
}

std::vector<bool> read_arguments(const Function& f) {
  std::vector<bool> used(f.nodes.size());
  for (const Node& node : f.nodes) {
    if (node.removed) continue;
    for (const Edge& edge : node.inputs) used[static_cast<size_t>(edge.node)] = true;
    for (const NodeId before : node.after) used[static_cast<size_t>(before)] = true;
  }
  for (const Result& result : f.results) used[static_cast<size_t>(result.value.node)] = true;
  std::vector<bool> out;
  for (const Argument& argument : f.arguments) out.push_back(used[static_cast<size_t>(argument.node)]);
  return out;
}

}  // namespace

Executable::Executable(Function function, Environment& environment, Role role, bool continues, Cause cause)
    : function_(std::move(function)),
      role_(role),
      continues_(continues),
      first_cause_(std::move(cause)),
      environment_(environment),
      family_(std::make_shared<PlanFamily>()),
      reads_(read_arguments(function_)),
      by_value_(function_.arguments.size()) {}

void Executable::find_key(std::span<const Value> arguments) {
  key_.clear();
  if (device::saturates(environment_.device())) key_ += 's';  // constants are computed as the device computes now
  for (size_t i = 0; i < arguments.size(); ++i) append(key_, arguments[i], by_value_[i]);
}

/// Of a plan that is not among the others yet.
Cause Executable::cause_of(const Entry& entry) const {
  if (entries_.empty()) return first_cause_;
  const Entry& before = *entries_.front();
  const bool same = before.shapes == entry.shapes;
  return {same ? device::trace::Need::kValues : device::trace::Need::kShapes,
          change_between(function_, before.made_for, entry.made_for)};
}

std::shared_ptr<Executable::Entry> Executable::make_entry(std::string key, std::span<const ArgumentTraits> traits) {
  check_types(function_, traits);
  auto entry = std::make_shared<Entry>();
  entry->key = std::move(key);
  entry->made_for = described(traits);
  entry->shapes = shapes_described(traits);
  const auto start = std::chrono::steady_clock::now();
  const Compilation compilation(device::trace::HostWork::kPlan);
  Planner planner(function_, environment_, traits);
  entry->plan = std::make_shared<const Plan>(planner.make());
  entry->owner = weak_from_this();
  entry->used = next_use();
  entry->depth = depth_;
  if (entry->plan->rest) {
    entry->rest = std::make_shared<Executable>(*entry->plan->rest, environment_, role_, true);
    entry->rest->family_ = family_;
    entry->rest->depth_ = depth_ + 1;
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  const Cause cause = cause_of(*entry);
  compilation.finish(function_, role_, environment_.device(), cause);
  const std::string again = entries_.empty() ? "" : cause.text;
  environment_.listener().planned({function_, role_, continues_, *entry->plan, taken.count(), again,
                                   [&] { return planner.with_shapes(); }, [&] { return environment_.program(); }});
  entries_.push_front(entry);
  if (entries_.size() > kMostPlans) forget(*entries_.back());
  return entry;
}

std::shared_ptr<Executable::Entry> Executable::find_entry(std::span<const Value> arguments) {
  const std::lock_guard lock(mutex_);
  while (true) {
    find_key(arguments);
    const auto at =
        std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry->key == key_; });
    if (at != entries_.end()) {
      (*at)->used = next_use();
      entries_.splice(entries_.begin(), entries_, at);
      return entries_.front();
    }
    const std::vector<ArgumentTraits> traits = traits_of(function_, arguments, by_value_);
    std::string key = key_;
    find_key(arguments);
    if (key != key_) continue;  // another thread gave a variable another shape meanwhile
    try {
      return make_entry(std::move(key), traits);
    } catch (const NeedsArgumentValue& need) {
      if (by_value_[need.argument]) fail(Code::kInternal, "argument {} is known and asked for again", need.argument);
      by_value_[need.argument] = true;
    }
  }
}

void Executable::check_count(size_t count) const {
  require(count == function_.arguments.size(), "function {} takes {} arguments; {} are given", function_.name,
          function_.arguments.size(), count);
}

void Executable::compile(std::span<const Value> arguments) {
  check_count(arguments.size());
  try {
    find_entry(arguments);
  } catch (NodeError& e) {
    e.put_around({client_name(function_.name)});
    throw;
  }
}

std::vector<Value> Executable::run(std::vector<Value> arguments, std::span<const Tensor> places) {
  check_count(arguments.size());
  if (role_ != Role::kRoot || continues_ || met_.load(std::memory_order_relaxed)) [[likely]]
    return run_observed(std::move(arguments), places);
  const comm::Announcement announcement(collective_order(function_, environment_.program()));
  std::vector<Value> results = run_observed(std::move(arguments), places);
  met_.store(true, std::memory_order_relaxed);
  return results;
}

std::vector<Value> Executable::run_observed(std::vector<Value> arguments, std::span<const Tensor> places) {
  std::optional<RunScope> scope;
  if (ops::observed() && role_ != Role::kOperator) [[unlikely]]
    scope.emplace(function_.name, next_step_);
  try {
    return run_frame(std::move(arguments), places);
  } catch (NodeError& e) {
    if (!continues_) e.put_around({client_name(function_.name)});
    throw;
  }
}

std::vector<Value> Executable::run_frame(std::vector<Value> arguments, std::span<const Tensor> places) {
  const std::shared_ptr<Entry> entry = find_entry(arguments);
  std::unique_ptr<Frame> frame = take(*entry);
  if (!frame) {
    family_->make_room(entry);
    frame = std::make_unique<Frame>(entry->plan, environment_);
  }
  const Deadline deadline(function_.name);
  const Busy busy(environment_.device());
  std::vector<Value> results = frame->run(std::move(arguments), places);
  give_back(*entry, std::move(frame));
  return entry->rest ? entry->rest->run(std::move(results), places) : results;
}

std::unique_ptr<Frame> Executable::take(Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (entry.idle.empty()) return nullptr;
  std::unique_ptr<Frame> frame = std::move(entry.idle.back());
  entry.idle.pop_back();
  return frame;
}

void Executable::give_back(Entry& entry, std::unique_ptr<Frame> frame) {
  const std::lock_guard lock(mutex_);
  if (!entry.dropped && entry.idle.size() < kMostIdleFrames) entry.idle.push_back(std::move(frame));
}

void Executable::forget(Entry& entry) {
  entry.dropped = true;
  entry.idle.clear();
  entries_.remove_if([&](const auto& one) { return one.get() == &entry; });
}

void Executable::drop(Entry& entry) {
  const std::lock_guard lock(mutex_);
  forget(entry);
}

void Executable::drop_frames(Entry& entry) {
  const std::lock_guard lock(mutex_);
  entry.idle.clear();
}

size_t Executable::plan_count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace npu::graph
