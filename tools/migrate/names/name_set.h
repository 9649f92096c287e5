// SPDX-License-Identifier: Apache-2.0
// A set of names that takes eight bytes a name: large projects define hundreds of thousands.
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace npu::migrate {

class NameSet {
 public:
  void insert(std::string_view name) { hashes_.push_back(hash(name)); }
  /// After the last insertion, before the first question.
  void close() {
    std::ranges::sort(hashes_);
    hashes_.shrink_to_fit();
  }
  /// Of two names one hash in 2^64: a name is taken for another's once in billions of projects.
  bool contains(std::string_view name) const { return std::ranges::binary_search(hashes_, hash(name)); }

 private:
  static size_t hash(std::string_view name) { return std::hash<std::string_view>()(name); }
  std::vector<size_t> hashes_;
};

}  // namespace npu::migrate
