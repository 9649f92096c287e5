// SPDX-License-Identifier: Apache-2.0
// Values that may be missing: how the gradient of a branch gets what the branch computed, if it ran.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/value/value.h"

namespace npu::graph {

class Optional final : public Object {
 public:
  explicit Optional(std::optional<std::vector<Value>> values) : values_(std::move(values)) {}
  std::string traits() const override;
  std::shared_ptr<Object> zeros(int device) const override;
  /// Raises 161002 where one holds a value and the other none, or they hold different numbers of them.
  std::shared_ptr<Object> plus(int device, const Object& other) const override;
  /// Null when there is no value.
  const std::vector<Value>* values() const { return values_ ? &*values_ : nullptr; }

 private:
  std::optional<std::vector<Value>> values_;
};

}  // namespace npu::graph
