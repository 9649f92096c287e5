// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a Python file, in one flat array: node i's children follow it, its parent stands before it. The
// parser (tree-sitter) reads Python 2 and 3 and goes on after an error. A node is a light value; its tree must live.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/migrate/text/source.h"

namespace npu::migrate {

// Names of the grammar; only what rules and names ask for. Everything else is kOther; a token without a name kToken.
// clang-format off: it never comes to rest on these.
#define NPU_SYNTAX_KINDS(V) \
  V(module) V(block) V(comment) V(identifier) V(dotted_name) V(aliased_import) V(wildcard_import) \
  V(relative_import) V(import_prefix) V(import_statement) V(import_from_statement) V(future_import_statement) \
  V(expression_statement) V(assignment) V(augmented_assignment) V(named_expression) V(return_statement) \
  V(delete_statement) V(global_statement) V(nonlocal_statement) V(if_statement) V(elif_clause) V(else_clause) \
  V(for_statement) V(while_statement) V(try_statement) V(except_clause) V(except_group_clause) V(finally_clause) \
  V(with_statement) V(with_clause) V(with_item) V(match_statement) V(case_clause) V(function_definition) \
  V(class_definition) V(decorated_definition) V(decorator) V(lambda) V(parameters) V(lambda_parameters) \
  V(default_parameter) V(typed_parameter) V(typed_default_parameter) V(list_splat_pattern) \
  V(dictionary_splat_pattern) V(list_splat) V(dictionary_splat) V(parenthesized_list_splat) V(argument_list) \
  V(keyword_argument) V(call) V(attribute) V(subscript) V(slice) V(string) V(concatenated_string) V(string_start) \
  V(string_content) V(string_end) V(interpolation) V(escape_sequence) V(integer) V(float) V(none) V(true) V(false) \
  V(list) V(tuple) V(set) V(dictionary) V(pair) V(expression_list) V(pattern_list) V(tuple_pattern) \
  V(list_pattern) V(as_pattern) V(as_pattern_target) V(case_pattern) V(splat_pattern) V(keyword_pattern) \
  V(parenthesized_expression) V(conditional_expression) V(boolean_operator) V(not_operator) V(binary_operator) \
  V(unary_operator) V(comparison_operator) V(await) V(yield) V(list_comprehension) V(set_comprehension) \
  V(dictionary_comprehension) V(generator_expression) V(for_in_clause) V(if_clause) V(type) V(generic_type) \
  V(print_statement) V(exec_statement) V(pass_statement) V(raise_statement) V(assert_statement) V(ERROR)

#define NPU_SYNTAX_FIELDS(V) \
  V(alias) V(alternative) V(argument) V(arguments) V(attribute) V(body) V(condition) V(consequence) V(definition) \
  V(function) V(key) V(left) V(module_name) V(name) V(object) V(operators) V(parameters) V(return_type) V(right) \
  V(subject) V(subscript) V(superclasses) V(type) V(value)

// clang-format on

enum class Kind : uint8_t {
  kToken,
  kOther,
#define NPU_ONE(name) k_##name,
  NPU_SYNTAX_KINDS(NPU_ONE)
#undef NPU_ONE
};

enum class Field : uint8_t {
  kNone,
#define NPU_ONE(name) k_##name,
  NPU_SYNTAX_FIELDS(NPU_ONE)
#undef NPU_ONE
};

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

 private:
  friend class Node;
  friend class PackedTree;
  struct Flat {
    uint32_t begin, end, parent, past;
    Kind kind;
    Field field;
  };
  void parse();

  const Source& source_;
  std::vector<Flat> flat_;
  size_t error_line_ = 0;
};

}  // namespace npu::migrate
