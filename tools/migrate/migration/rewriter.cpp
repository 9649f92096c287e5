// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/rewriter.h"

#include <algorithm>

namespace npu::migrate {

void Rewriter::drop(size_t change) {
  edits_.drop(change);
  for (Needs* needs : {&imports_, &lines_})
    for (auto& [line, changes] : *needs) std::erase(changes, change);
}

void Rewriter::forget_needs_of(const std::vector<size_t>& dropped) {
  for (Needs* needs : {&imports_, &lines_}) {
    for (auto& [line, changes] : *needs)
      std::erase_if(changes, [&](size_t change) { return std::ranges::binary_search(dropped, change); });
    std::erase_if(*needs, [](const auto& each) { return each.second.empty(); });
  }
}

}  // namespace npu::migrate
