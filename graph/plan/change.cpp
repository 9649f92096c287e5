// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/change.h"

#include "graph/ir/value_type.h"

namespace npu::graph {
namespace {

std::string shaped(const Tensor& tensor) {
  if (tensor.dtype == DType::kUndefined) return "nothing yet";
  return std::string(name_of(tensor.dtype)) + to_string(PartialShape{tensor.shape});
}

std::string described(const ArgumentTraits& one) {
  if (one.literal) return to_string(Attribute(*one.literal));
  if (dynamic_cast<const Variable*>(one.object.get()) != nullptr) return "a variable of " + shaped(one.tensor);
  if (one.object) return one.object->traits();
  return shaped(one.tensor);
}

}  // namespace

std::vector<std::string> described(std::span<const ArgumentTraits> traits) {
  std::vector<std::string> out;
  for (const ArgumentTraits& one : traits) out.push_back(described(one));
  return out;
}

std::vector<std::string> shapes_described(std::span<const ArgumentTraits> traits) {
  std::vector<std::string> out;
  for (ArgumentTraits one : traits) {
    one.literal = nullptr;
    out.push_back(described(one));
  }
  return out;
}

std::string change_between(const Function& function, const std::vector<std::string>& before,
                           const std::vector<std::string>& now) {
  std::string first;
  size_t more = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    if (before[i] == now[i]) continue;
    if (!first.empty())
      ++more;
    else
      first = fmt::format("argument {} was {} and is {}", function.arguments[i].name, before[i], now[i]);
  }
  if (first.empty()) return "a long value among its arguments changed, or the device treats overflow otherwise";
  return more == 0 ? first : fmt::format("{}, and {} more changed", first, more);
}

}  // namespace npu::graph
