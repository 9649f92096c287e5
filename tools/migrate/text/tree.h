// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a Python file, in one flat array: node i's children follow it, its parent stands before it. The
// parser (tree-sitter) reads Python 2 and 3 and goes on after an error. A node is a light value; its tree must live.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/migrate/text/source.h"
#include "tools/migrate/text/syntax.h"

namespace npu::migrate {

class Tree;

class Node {
 public:
  Node() = default;
  Node(const Tree* tree, uint32_t index) : tree_(tree), index_(index) {}
  explicit operator bool() const { return tree_ != nullptr; }
  bool operator==(const Node&) const = default;

  Kind kind() const;
  bool is(Kind kind) const { return *this && this->kind() == kind; }
  /// Bytes of the file, with what the file really has there.
  std::string_view text() const;
  size_t begin() const;
  size_t end() const;
  size_t line() const;       ///< of its first byte, from 1
  size_t last_line() const;  ///< of its last byte
  uint32_t index() const { return index_; }
  const Tree& tree() const { return *tree_; }

  Node parent() const;            ///< none for the module
  Node above(Kind kind) const;    ///< the nearest of this kind around this node, itself left out; or none
  Field field() const;            ///< what it is to its parent
  Node child(Field field) const;  ///< the first such child, or none
  std::vector<Node> children(Field field) const;
  /// Children with a name of the grammar, comments left out.
  std::vector<Node> named() const;
  std::vector<Node> children() const;  ///< all of them, tokens and comments too
  uint32_t past() const;               ///< index after the last node inside this one

 private:
  const Tree* tree_ = nullptr;
  uint32_t index_ = 0;
};

class PackedTree;

class Tree {
 public:
  /// `source` must outlive the tree. Where `packed` was made of this text, the parser need not read it again.
  explicit Tree(const Source& source, const PackedTree* packed = nullptr);
  Tree(Tree&&) = delete;

  const Source& source() const { return source_; }
  Node root() const { return {this, 0}; }
  Node node(uint32_t index) const { return {this, index}; }
  uint32_t size() const { return static_cast<uint32_t>(flat_.size()); }
  /// Line of the first place that is no Python, 0 where all is.
  size_t error_line() const { return error_line_; }
  PackedTree packed() const;

 private:
  friend class Node;
  void parse();

  const Source& source_;
  std::vector<FlatNode> flat_;
  size_t error_line_ = 0;
};

}  // namespace npu::migrate
