// SPDX-License-Identifier: Apache-2.0
// A tree in few bytes (four a node, half of what its text takes), kept between the two looks at a file of a project.
#pragma once

#include <string>
#include <vector>

#include "tools/migrate/text/tree.h"

namespace npu::migrate {

class PackedTree {
 public:
  explicit PackedTree(const Tree& tree);
  size_t bytes() const { return packed_.size(); }
  /// Whether it was made of this very text: files may change between the two looks.
  bool made_of(const Source& source) const;
  size_t error_line() const { return error_line_; }
  std::vector<Tree::Flat> unpacked() const;

 private:
  std::string packed_;
  uint32_t nodes_;
  size_t error_line_, text_bytes_, text_hash_;
};

}  // namespace npu::migrate
