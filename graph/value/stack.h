// SPDX-License-Identifier: Apache-2.0
// A stack of values: how a loop leaves what its gradient needs, turn by turn. It is an object that its nodes change,
// unlike a list (tensor_list.h), which is a value.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "graph/value/tensor_list.h"

namespace npu::graph {

class Stack final : public Object {
 public:
  /// `name` is for error texts and gets a number behind it; `most`: values it may hold, below 0 kMostElements.
  Stack(ValueType element, const std::string& name, int64_t most);
  std::string traits() const override;
  void add_traits(std::string& key) const override;
  /// What plans may count on now.
  ListType type() const;
  size_t size() const;
  /// Whether all that was pushed is known to plans and the same, such as the shape of what a loop computes.
  struct Constant {
    std::shared_ptr<const Literal> all;  ///< what it is; null where nothing was pushed yet, or it varies
    bool varies = false;
    /// What it is when this, or something unknown (null), is pushed.
    Constant with(const std::shared_ptr<const Literal>& pushed) const;
    bool operator==(const Constant& other) const;
  };
  Constant constant() const;

  /// Raise 161002 when the stack is full, empty, or closed. `known`: the elements, where plans know them.
  void push(Value value, const std::shared_ptr<const Literal>& known = nullptr);
  Value pop();
  /// Lets go of what it holds.
  void close();

 private:
  void check_open() const;

  const std::string name_;
  const int64_t most_;
  mutable std::mutex mutex_;
  ListType type_;
  Constant constant_;
  std::vector<Value> values_;
  bool closed_ = false;
};

}  // namespace npu::graph
