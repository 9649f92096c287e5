// SPDX-License-Identifier: Apache-2.0
// For tests: trees compared node by node, and with what they are packed into.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/migrate/text/packed_tree.h"
#include "tools/migrate/text/tree.h"

namespace npu::migrate {

/// All there is to know of a node, in one line.
inline std::string told(Node node) {
  return fmt::format("{}-{} kind {} field {} parent {} past {}", node.begin(), node.end(),
                     static_cast<int>(node.kind()), static_cast<int>(node.field()),
                     node.parent() ? static_cast<int>(node.parent().index()) : -1, node.past());
}

inline std::vector<std::string> told(const Tree& tree) {
  std::vector<std::string> out;
  for (uint32_t i = 0; i < tree.size(); ++i) out.push_back(told(tree.node(i)));
  return out;
}

inline void expect_packs(const std::string& text) {
  const Source source("a.py", text);
  const Tree tree(source);
  const PackedTree packed = tree.packed();
  const Tree again(source, &packed);
  EXPECT_EQ(told(again), told(tree)) << text.substr(0, 200);
  EXPECT_EQ(again.error_line(), tree.error_line()) << text.substr(0, 200);
}

}  // namespace npu::migrate
