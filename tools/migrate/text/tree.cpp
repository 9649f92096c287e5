// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/tree.h"

#include <fmt/format.h>
#include <tree_sitter/api.h>

#include <cstring>
#include <memory>

#include "tools/migrate/text/packed_tree.h"

extern "C" const TSLanguage* tree_sitter_python();

namespace npu::migrate {
namespace {

/// By symbol and field number of the grammar.
struct Grammar {
  std::vector<Kind> kinds;
  std::vector<Field> fields;

  Grammar() {
    const TSLanguage* language = tree_sitter_python();
    kinds.resize(ts_language_symbol_count(language), Kind::kOther);
    fields.resize(ts_language_field_count(language) + 1, Field::kNone);
    for (TSSymbol symbol = 0; symbol < kinds.size(); ++symbol) {
      if (ts_language_symbol_type(language, symbol) != TSSymbolTypeRegular) {
        kinds[symbol] = Kind::kToken;
        continue;
      }
      const std::string_view name = ts_language_symbol_name(language, symbol);
#define NPU_ONE(known) \
  if (name == #known) kinds[symbol] = Kind::k_##known;
      NPU_SYNTAX_KINDS(NPU_ONE)
#undef NPU_ONE
    }
#define NPU_ONE(known) fields[ts_language_field_id_for_name(language, #known, sizeof(#known) - 1)] = Field::k_##known;
    NPU_SYNTAX_FIELDS(NPU_ONE)
#undef NPU_ONE
    fields[0] = Field::kNone;
  }

  Kind kind(TSNode node) const {
    const TSSymbol symbol = ts_node_symbol(node);
    return symbol < kinds.size() ? kinds[symbol] : Kind::k_ERROR;  // an error's symbol is the greatest number
  }
};

const Grammar& grammar() {
  static const Grammar made;
  return made;
}

using Parsed = std::unique_ptr<TSTree, decltype(&ts_tree_delete)>;

Parsed parsed(const std::string& text, const std::string& path) {
  const std::unique_ptr<TSParser, decltype(&ts_parser_delete)> parser(ts_parser_new(), ts_parser_delete);
  ts_parser_set_language(parser.get(), tree_sitter_python());
  Parsed tree(ts_parser_parse_string(parser.get(), nullptr, text.data(), static_cast<uint32_t>(text.size())),
              ts_tree_delete);
  if (!tree) throw Refusal(fmt::format("{}: could not be parsed; it is left as it is", path));
  return tree;
}

/// Brackets, commas, colons and dots, nearly half of all nodes: nothing asks what these are to their parents, and the
/// parser takes long to tell.
bool is_punctuation(char c) {
  constexpr std::string_view kAll = ",()[]{}:.;";
  return kAll.find(c) != kAll.npos;
}

}  // namespace

Tree::Tree(const Source& source, const PackedTree* packed) : source_(source) {
  if (packed != nullptr && packed->made_of(source))
    flat_ = packed->unpacked(), error_line_ = packed->error_line();
  else
    parse();
}

PackedTree Tree::packed() const { return {flat_, error_line_, source_}; }

void Tree::parse() {
  const Parsed tree = parsed(source_.readable(), source_.path());
  const TSNode root = ts_tree_root_node(tree.get());
  const Grammar& known = grammar();
  const bool sound = !ts_node_has_error(root);
  TSTreeCursor made = ts_tree_cursor_new(root);
  const std::unique_ptr<TSTreeCursor, decltype(&ts_tree_cursor_delete)> cursor(&made, ts_tree_cursor_delete);
  flat_.reserve(ts_node_descendant_count(root));
  uint32_t parent = 0;
  while (true) {
    const TSNode node = ts_tree_cursor_current_node(cursor.get());
    const auto index = static_cast<uint32_t>(flat_.size());
    const Kind kind = known.kind(node);
    const uint32_t begin = ts_node_start_byte(node), end = ts_node_end_byte(node);
    const bool plain = kind == Kind::kToken && end == begin + 1 && is_punctuation(source_.bytes()[begin]);
    const Field field = plain ? Field::kNone : known.fields[ts_tree_cursor_current_field_id(cursor.get())];
    flat_.push_back({begin, end, parent, 0, kind, field});
    if (!sound && error_line_ == 0 && (kind == Kind::k_ERROR || ts_node_is_missing(node)))
      error_line_ = source_.line(ts_node_start_byte(node));
    if (index == 0) flat_[0].kind = Kind::k_module;  // where nothing is Python, too: every walk up ends at a module
    if (ts_tree_cursor_goto_first_child(cursor.get())) {
      parent = index;
      continue;
    }
    flat_[index].past = index + 1;
    while (!ts_tree_cursor_goto_next_sibling(cursor.get())) {
      if (!ts_tree_cursor_goto_parent(cursor.get())) {
        flat_[0].past = size();
        return;
      }
      flat_[parent].past = size();
      parent = flat_[parent].parent;
    }
  }
}

Kind Node::kind() const { return tree_->flat_[index_].kind; }
size_t Node::begin() const { return tree_->flat_[index_].begin; }
size_t Node::end() const { return tree_->flat_[index_].end; }
uint32_t Node::past() const { return tree_->flat_[index_].past; }
Field Node::field() const { return tree_->flat_[index_].field; }
size_t Node::line() const { return tree_->source_.line(begin()); }
size_t Node::last_line() const { return tree_->source_.line(end() > begin() ? end() - 1 : end()); }

std::string_view Node::text() const {
  return std::string_view(tree_->source_.bytes()).substr(begin(), end() - begin());
}

Node Node::parent() const { return index_ == 0 ? Node() : Node(tree_, tree_->flat_[index_].parent); }

Node Node::above(Kind kind) const {
  for (Node node = parent(); node; node = node.parent())
    if (node.kind() == kind) return node;
  return {};
}

Node Node::child(Field field) const {
  for (uint32_t i = index_ + 1; i < past(); i = tree_->flat_[i].past)
    if (tree_->flat_[i].field == field) return {tree_, i};
  return {};
}

std::vector<Node> Node::children() const {
  std::vector<Node> out;
  for (uint32_t i = index_ + 1; i < past(); i = tree_->flat_[i].past) out.emplace_back(tree_, i);
  return out;
}

std::vector<Node> Node::children(Field field) const {
  std::vector<Node> out = children();
  std::erase_if(out, [&](Node node) { return node.field() != field; });
  return out;
}

std::vector<Node> Node::named() const {
  std::vector<Node> out = children();
  std::erase_if(out, [](Node node) { return node.kind() == Kind::kToken || node.kind() == Kind::k_comment; });
  return out;
}

}  // namespace npu::migrate
