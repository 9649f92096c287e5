// SPDX-License-Identifier: Apache-2.0
// A set of names that takes eight bytes a name: large projects define hundreds of thousands.
#pragma once

#include <algorithm>
#include <vector>

#include "tools/migrate/names/access_path.h"

namespace npu::migrate {

class NameSet {
 public:
  void insert(Steps name) { hashes_.push_back(hash_of(name)); }
  /// After the last insertion, before the first question.
  void close() {
    std::ranges::sort(hashes_);
    hashes_.shrink_to_fit();
  }
  /// Of two names one hash in 2^64: a name is taken for another's once in billions of projects.
  bool contains(Steps name) const { return std::ranges::binary_search(hashes_, hash_of(name)); }

 private:
  std::vector<size_t> hashes_;
};

}  // namespace npu::migrate
