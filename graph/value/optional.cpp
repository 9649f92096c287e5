// SPDX-License-Identifier: Apache-2.0
#include "graph/value/optional.h"

#include "base/error.h"
#include "graph/value/arithmetic.h"

namespace npu::graph {

std::string Optional::traits() const {
  if (!values_) return "nothing";
  std::string text = "optional of";
  for (const Value& value : *values_) text += " " + (value.object ? value.object->traits() : to_string(value.tensor));
  return text;
}

std::shared_ptr<Object> Optional::zeros(int device) const {
  if (!values_) return std::make_shared<Optional>(std::nullopt);
  std::vector<Value> zeros;
  for (const Value& value : *values_) zeros.push_back(zeros_like(device, value));
  return std::make_shared<Optional>(std::move(zeros));
}

std::shared_ptr<Object> Optional::plus(int device, const Object& other) const {
  const auto* second = dynamic_cast<const Optional*>(&other);
  if (second == nullptr) return nullptr;
  const std::vector<Value>*x = values(), *y = second->values();
  require((x == nullptr) == (y == nullptr), "one of two optionals to be added holds a value, the other holds none");
  if (x == nullptr) return std::make_shared<Optional>(std::nullopt);
  require(x->size() == y->size(), "optionals of {} and {} values are to be added", x->size(), y->size());
  std::vector<Value> sums;
  for (size_t i = 0; i < x->size(); ++i) sums.push_back(sum_of(device, (*x)[i], (*y)[i]));
  return std::make_shared<Optional>(std::move(sums));
}

}  // namespace npu::graph
