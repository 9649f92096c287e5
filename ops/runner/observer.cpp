// SPDX-License-Identifier: Apache-2.0
#include "ops/runner/observer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "device/trace/recorder.h"

namespace npu::ops {
namespace {

void see(const Scalar& scalar, std::vector<double>& numbers) {
  if (scalar.defined() && !scalar.is_integral()) numbers.push_back(scalar.to_double());
}
void see(const Operand& operand, std::vector<double>& numbers) { see(operand.scalar, numbers); }
void see(double number, std::vector<double>& numbers) { numbers.push_back(number); }
template <class T>
  requires(std::is_same_v<T, Scalar> || std::is_same_v<T, Operand> || std::is_same_v<T, float>)
void see(const std::vector<T>& all, std::vector<double>& numbers) {
  for (const T& one : all) see(one, numbers);
}
template <class T>
void see(const T&, std::vector<double>&) {}  // no number, or one that is always finite

struct Table {
  std::mutex mutex;
  std::vector<std::shared_ptr<Observer>> all;
};

// Never destroyed: streams run tasks until the process is gone.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

/// With the lock held.
void count_onlookers() {
  const auto observers = static_cast<int32_t>(table().all.size());
  detail::observers = observers;
  detail::onlookers = observers + (detail::writer != nullptr ? 1 : 0);
}

std::vector<std::shared_ptr<Observer>> observers_now() {
  if (detail::observers.load(std::memory_order_relaxed) == 0) return {};
  const std::lock_guard lock(table().mutex);
  return table().all;
}

std::vector<std::unique_ptr<Watch>> watches_of(const Execution& execution,
                                               const std::vector<std::shared_ptr<Observer>>& observers) {
  std::vector<std::unique_ptr<Watch>> watches;
  for (const auto& observer : observers)
    if (execution.within == nullptr || observer->looks_inside())
      if (auto watch = observer->start(execution)) watches.push_back(std::move(watch));
  return watches;
}

}  // namespace

constinit std::atomic<int32_t> detail::onlookers{0};
constinit std::atomic<int32_t> detail::observers{0};
constinit std::atomic<TaskWriter*> detail::writer{nullptr};

void add_observer(std::shared_ptr<Observer> observer) {
  const std::lock_guard lock(table().mutex);
  table().all.push_back(std::move(observer));
  count_onlookers();
}

void remove_observer(const Observer& observer) {
  const std::lock_guard lock(table().mutex);
  std::erase_if(table().all, [&](const auto& one) { return one.get() == &observer; });
  count_onlookers();
}

void set_task_writer(TaskWriter* writer) {
  const std::lock_guard lock(table().mutex);
  detail::writer = writer;
  count_onlookers();
}

Observation::Observation(Execution& execution)
    : observers_(observers_now()),
      watches_(watches_of(execution, observers_)),
      witness_(execution.overflows),
      writer_(execution.op == nullptr ? detail::writer.load() : nullptr),
      start_(writer_ == nullptr ? 0 : device::trace::now()) {}

void Observation::finished(const Execution& execution) {
  if (writer_ != nullptr) writer_->write(execution, start_);
  for (const auto& watch : watches_) watch->finished(execution);
}

void Observation::failed(const Execution& execution, const Error& error) {
  if (writer_ != nullptr) writer_->write(execution, start_);
  for (const auto& watch : watches_) watch->failed(execution, error);
}

bool observed_inside() {
  if (detail::observers.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(table().mutex);
  return std::any_of(table().all.begin(), table().all.end(), [](const auto& one) { return one->looks_inside(); });
}

void see_tensors(Operator& op, Execution& execution) {
  for_each_tensor(op, [&](const Tensor& tensor, const Field& field) {
    if (!has_memory(tensor)) return;
    if (reads(field)) execution.inputs.push_back({field.name, tensor});
    if (field.is_result()) execution.outputs.push_back({field.name, tensor});
  });
}

void see_numbers(Operator& op, Execution& execution) {
  if (const auto* members = op.members()) {
    for (const auto& member : *members) see_numbers(*member, execution);
    return;
  }
  for (const Field& field : op.def->fields)
    std::visit([&](const auto* member) { see(*member, execution.numbers); }, field.locate(op));
}

}  // namespace npu::ops
