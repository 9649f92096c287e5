// SPDX-License-Identifier: Apache-2.0
// Which operators work on quantised numbers: those between a quantisation and its inverse. Their elements have no
// counterpart in a model that was not quantised.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace npu::compare {

class QuantisedSpan {
 public:
  /// To be called for each operator after those that it reads.
  bool holds(const std::string& name, const std::vector<std::string>& originals, const std::vector<std::string>& inputs,
             const std::vector<std::string>& output_types);

 private:
  enum class Role { kPlain, kInside, kQuantise, kRestore };
  bool reads_quantised(const std::vector<std::string>& inputs) const;
  std::map<std::string, std::vector<Role>> outputs_;
};

}  // namespace npu::compare
