// SPDX-License-Identifier: Apache-2.0
// A tree in few bytes (four a node, half of what its text takes), kept between the two looks at a file of a project.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/migrate/text/source.h"
#include "tools/migrate/text/syntax.h"

namespace npu::migrate {

class PackedTree {
 public:
  PackedTree(std::span<const FlatNode> nodes, size_t error_line, const Source& source);
  size_t bytes() const { return packed_.size(); }
  /// Whether it was made of this very text: files may change between the two looks.
  bool made_of(const Source& source) const;
  size_t error_line() const { return error_line_; }
  std::vector<FlatNode> unpacked() const;

 private:
  std::string packed_;
  uint32_t nodes_;
  size_t error_line_, text_bytes_, text_hash_;
};

}  // namespace npu::migrate
