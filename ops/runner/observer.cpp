// SPDX-License-Identifier: Apache-2.0
#include "ops/runner/observer.h"

#include <algorithm>
#include <mutex>
#include <utility>

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

}  // namespace

constinit std::atomic<int32_t> detail::observers{0};

void add_observer(std::shared_ptr<Observer> observer) {
  const std::lock_guard lock(table().mutex);
  table().all.push_back(std::move(observer));
  detail::observers.fetch_add(1);
}

void remove_observer(const Observer& observer) {
  const std::lock_guard lock(table().mutex);
  const auto removed = std::erase_if(table().all, [&](const auto& one) { return one.get() == &observer; });
  detail::observers.fetch_sub(static_cast<int32_t>(removed));
}

Observation::Observation(Execution& execution) : witness_(execution.overflows) {
  {
    const std::lock_guard lock(table().mutex);
    observers_ = table().all;
  }
  for (const auto& observer : observers_)
    if (execution.within == nullptr || observer->looks_inside())
      if (auto watch = observer->start(execution)) watches_.push_back(std::move(watch));
}

void Observation::finished(const Execution& execution) {
  for (const auto& watch : watches_) watch->finished(execution);
}

void Observation::failed(const Execution& execution, const Error& error) {
  for (const auto& watch : watches_) watch->failed(execution, error);
}

bool observed_inside() {
  const std::lock_guard lock(table().mutex);
  return std::any_of(table().all.begin(), table().all.end(), [](const auto& one) { return one->looks_inside(); });
}

void see_tensors(Operator& op, Execution& execution) {
  for_each_tensor(op, [&](const Tensor& tensor, const Field& field) {
    if (!tensor.defined() || (tensor.data == nullptr && tensor.count() > 0)) return;
    const bool reads = field.role != FieldRole::kOut && field.role != FieldRole::kOptionalOut;
    if (reads) execution.inputs.push_back({field.name, tensor});
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
