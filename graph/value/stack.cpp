// SPDX-License-Identifier: Apache-2.0
#include "graph/value/stack.h"

#include <atomic>

#include "base/error.h"
#include "graph/value/element_limit.h"

namespace npu::graph {
namespace {

/// Stacks of one node are told apart by their numbers.
std::string numbered(const std::string& name) {
  static std::atomic<int64_t> count = 0;
  return fmt::format("{}_{}", name, count.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

Stack::Stack(ValueType element, const std::string& name, int64_t most)
    : name_(numbered(name)), most_(most), type_(element, PartialShape::unknown()) {}

ListType Stack::type() const {
  const std::lock_guard lock(mutex_);
  return type_;
}

Stack::Constant Stack::Constant::with(const std::shared_ptr<const Literal>& pushed) const {
  if (varies || pushed == nullptr || (all != nullptr && !(*all == *pushed))) return {nullptr, true};
  return {pushed, false};
}

bool Stack::Constant::operator==(const Constant& other) const {
  if (varies != other.varies || (all == nullptr) != (other.all == nullptr)) return false;
  return all == nullptr || *all == *other.all;
}

Stack::Constant Stack::constant() const {
  const std::lock_guard lock(mutex_);
  return constant_;
}

size_t Stack::size() const {
  const std::lock_guard lock(mutex_);
  return values_.size();
}

std::string Stack::traits() const {
  return (constant().all == nullptr ? "stack of " : "stack of equal ") + type().text();
}

void Stack::add_traits(std::string& key) const {
  const Constant known = constant();
  key += known.varies ? 's' : known.all == nullptr ? 'e' : 'c';
  type().add_to(key);
  if (known.all != nullptr)
    key.append(reinterpret_cast<const char*>(known.all->bytes->data()), known.all->bytes->size());
}

void Stack::check_open() const { require(!closed_, "Stack[{}] has already been closed.", name_); }

void Stack::push(Value value, const std::shared_ptr<const Literal>& known) {
  const std::lock_guard lock(mutex_);
  check_open();
  require(most_ < 0 || std::cmp_less(values_.size(), most_), "Stack[{}] overflowed its max_size ({})", name_, most_);
  check_element_count(static_cast<int64_t>(values_.size()) + 1);
  if (!value.object) type_.hold(value.tensor.shape);
  constant_ = constant_.with(known);
  values_.push_back(std::move(value));
}

Value Stack::pop() {
  const std::lock_guard lock(mutex_);
  check_open();
  require(!values_.empty(), "Stack[{}] is empty when calling Pop().", name_);
  Value value = std::move(values_.back());
  values_.pop_back();
  return value;
}

void Stack::close() {
  const std::lock_guard lock(mutex_);
  values_.clear();
  closed_ = true;
}

}  // namespace npu::graph
