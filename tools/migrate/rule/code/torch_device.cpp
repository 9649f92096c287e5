// SPDX-License-Identifier: Apache-2.0
// Comparisons of devices with "cuda".
#include <algorithm>

#include "tools/migrate/rule/action.h"
#include "tools/migrate/rule/code.h"

namespace npu::migrate {
namespace {

using enum Kind;

Action to_npu() {
  Action out;
  out.key = "cuda";
  out.text = "npu";
  return out;
}

bool is_device_word(std::string_view name) {
  std::string word(name);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word.find("device") != word.npos || word == "dev" || word == "map_location";
}

/// What a text was made of: `str(d).lower().split(":")[0]` asks about d, as `d.type` does.
Node asked(Node node) {
  for (int round = 0; round < 8; ++round) {
    if (node.is(k_parenthesized_expression) && !node.named().empty()) {
      node = node.named()[0];
    } else if (node.is(k_call)) {
      const Node function = node.child(Field::k_function);
      const bool makes_text = function.text() == "str" || function.text() == "repr";
      const Node inner = makes_text ? Arguments(node).at(0) : function.child(Field::k_object);
      if (!inner) return node;
      static constexpr std::string_view kMethods[] = {"lower", "strip", "split", "partition"};
      if (!makes_text && std::ranges::find(kMethods, function.child(Field::k_attribute).text()) == std::end(kMethods))
        return node;
      node = inner;
    } else if (node.is(k_subscript) && !node.child(Field::k_subscript).is(k_string)) {
      node = node.child(Field::k_value);
    } else if (node.is(k_attribute) && node.child(Field::k_attribute).text() == "type") {
      node = node.child(Field::k_object);
    } else {
      return node;
    }
  }
  return node;
}

bool is_backend(Migration& migration, Node side) {
  const Node node = asked(side);
  const std::string_view word = node.is(k_attribute)    ? node.child(Field::k_attribute).text()
                                : node.is(k_subscript)  ? node.child(Field::k_subscript).text()
                                : node.is(k_identifier) ? node.text()
                                                        : std::string_view();
  if (word.find("backend") != word.npos) return true;
  return std::ranges::any_of(migration.names().of(node), [&](const Value& value) {
    if (value.is_text()) return !node.is(k_string) && migration.is_taken(value.origin);
    return value.text == "torch.distributed.get_backend()";
  });
}

bool is_device(Migration& migration, Node side) {
  const Node node = asked(side);
  if (node.is(k_string) || node.is(k_concatenated_string)) return false;
  if (node.is(k_identifier) && is_device_word(node.text())) return true;
  if (node.is(k_attribute) && is_device_word(node.child(Field::k_attribute).text())) return true;
  if (node.is(k_subscript) && is_device_word(node.child(Field::k_subscript).text())) return true;
  return std::ranges::any_of(migration.names().of(node), [&](const Value& value) {
    if (value.is_text()) return migration.is_taken(value.origin);
    return value.text == "torch.device()" || value.text.ends_with(".device") ||
           value.text.ends_with("get_default_device()") || value.text.ends_with("current_accelerator()");
  });
}

/// The strings of `case "cuda" | "cpu":` and everything compared.
std::vector<Node> sides_of(Node node) {
  if (node.is(k_comparison_operator)) return node.named();
  if (node.is(k_call)) {
    std::vector<Node> out = {node.child(Field::k_function).child(Field::k_object)};
    for (int i = 0; const Node argument = Arguments(node).at(i); ++i) out.push_back(argument);
    return out;
  }
  std::vector<Node> out = {node.child(Field::k_subject)};
  for (uint32_t i = node.index(); i < node.past(); ++i)
    if (const Node each = node.tree().node(i); each.is(k_string) && each.above(k_case_pattern) &&
                                               each.above(k_match_statement) == node &&
                                               !each.above(k_case_pattern).above(k_block).is(k_case_clause))
      if (each.parent().is(k_case_pattern) || each.parent().parent().is(k_case_pattern)) out.push_back(each);
  return out;
}

/// Where one side names a library for communication, all do.
bool compare_backend(Migration& migration, const Rule& rule, Node node, size_t change) {
  const std::vector<Node> sides = sides_of(node);
  if (std::ranges::none_of(sides, [&](Node side) { return side && is_backend(migration, side); })) return false;
  Action action;
  action.key = "nccl";
  action.text = "hccl";
  bool done = false;
  for (const Node side : sides) done = rewrite_literals(migration, rule, action, side, change) || done;
  return done;
}

bool is_plain_device(Node side) {
  const std::string_view text = side.text();
  return side.is(k_string) && (text.substr(1) == "cuda\"" || text.substr(1) == "cuda'");
}

/// Where one side is a device, the texts on all sides mean devices too.
bool compare(Migration& migration, const Rule& rule, Node node, size_t change) {
  const std::vector<Node> sides = sides_of(node);
  if (std::ranges::none_of(sides, [&](Node side) { return side && is_device(migration, side); })) {
    if (node.is(k_comparison_operator) && node.text().find("==") != std::string_view::npos &&
        std::ranges::any_of(sides, is_plain_device))
      migration.note(rule, node, "unsure", "left as it is: nothing tells whether a device is compared with \"cuda\"");
    return false;
  }
  bool done = false;
  for (const Node side : sides) done = rewrite_literals(migration, rule, to_npu(), side, change) || done;
  return done;
}

/// Of a mapping keys and values are devices.
bool map_location(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Node place = Arguments(node).value(1, "map_location");
  if (!place) return false;
  const Values values = migration.names().of(place);
  Node mapping = place;
  if (place.is(k_identifier))
    for (const Binding* binding : migration.names().table().reaching(place.text(), place))
      if (binding->how == Binding::How::kAssign) mapping = binding->value;
  bool done = rewrite_literals(migration, rule, to_npu(), place, change);
  if (!mapping.is(k_dictionary)) return done;
  for (const Node pair : mapping.named())
    for (const Field field : {Field::k_key, Field::k_value})
      if (const Node part = pair.child(field))
        if (rewrite_literals(migration, rule, to_npu(), part, change)) {
          done = true;
          Change& row = migration.row(change);
          row.last_line = std::max(row.last_line, part.last_line());
          row.line = std::min(row.line, part.line());
        }
  return done;
}

bool default_type(Migration& migration, const Rule&, Node node, size_t change) {
  const Node type = Arguments(node).at(0);
  if (!type) return false;
  const Values values = migration.names().of(type);
  const bool floats = values.size() == 1 && values.begin()->text == "torch.cuda.FloatTensor";
  if (!floats) return false;
  const Node function = node.child(Field::k_function);
  const Node name = function.is(k_attribute) ? function.child(Field::k_attribute) : Node();
  if (!name) return false;
  migration.edits().replace(name.begin(), name.end(), "set_default_device", change);
  migration.edits().replace(type.begin(), type.end(), "\"npu\"", change);
  return true;
}

const CodeEntry kCompare("torch-compare", compare), kMap("torch-map-location", map_location),
    kDefault("torch-default-type", default_type), kBackend("torch-compare-backend", compare_backend);

}  // namespace
}  // namespace npu::migrate
