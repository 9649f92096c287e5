// SPDX-License-Identifier: Apache-2.0
// The elements of a list: handles to values that never change. One that was never set takes the 16 bytes of a null
// handle, so a long list of which little is set stays small, and copies of a list share the values.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "graph/value/element_limit.h"
#include "graph/value/value.h"

namespace npu::graph {

class ElementVector {
 public:
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  bool is_set(size_t at) const { return values_[at] != nullptr; }
  /// Neither a tensor nor an object where the element was never set.
  const Value& operator[](size_t at) const { return is_set(at) ? *values_[at] : unset(); }

  void set(size_t at, Value value) { values_[at] = handle(std::move(value)); }
  // Those that make it longer raise 161002 for more than kMostElements.
  void push_back(Value value) { insert(size(), std::move(value)); }
  void insert(size_t at, Value value) {
    check(size() + 1);
    values_.insert(values_.begin() + static_cast<int64_t>(at), handle(std::move(value)));
  }
  void append(const ElementVector& more) {
    check(size() + more.size());
    values_.insert(values_.end(), more.values_.begin(), more.values_.end());
  }
  /// New elements are not set.
  void resize(size_t count) {
    check(count);
    values_.resize(count);
  }
  void erase(size_t at) { values_.erase(values_.begin() + static_cast<int64_t>(at)); }
  void pop_back() { values_.pop_back(); }

 private:
  using Handle = std::shared_ptr<const Value>;

  static Handle handle(Value value) {
    if (!value.object && !value.tensor.defined()) return nullptr;
    return std::make_shared<const Value>(std::move(value));
  }
  static const Value& unset() {
    static const Value none{};
    return none;
  }
  static void check(size_t count) { check_element_count(static_cast<int64_t>(count)); }

  std::vector<Handle> values_;
};

}  // namespace npu::graph
