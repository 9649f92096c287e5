// SPDX-License-Identifier: Apache-2.0
// Comparisons of devices with "cuda".
#include <algorithm>
#include <iterator>

#include "tools/migrate/migration/argument.h"
#include "tools/migrate/migration/code.h"
#include "tools/migrate/migration/literal.h"

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
  return std::ranges::any_of(migration.script.names().of(node), [&](const Value& value) {
    if (value.is_text()) return !node.is(k_string) && migration.rewriter.is_taken(value.origin);
    return value.is("torch.distributed.get_backend()");
  });
}

bool is_device(Migration& migration, Node side) {
  const Node node = asked(side);
  if (node.is(k_string) || node.is(k_concatenated_string)) return false;
  if (node.is(k_identifier) && is_device_word(node.text())) return true;
  if (node.is(k_attribute) && is_device_word(node.child(Field::k_attribute).text())) return true;
  if (node.is(k_subscript) && is_device_word(node.child(Field::k_subscript).text())) return true;
  return std::ranges::any_of(migration.script.names().of(node), [&](const Value& value) {
    if (value.is_text()) return migration.rewriter.is_taken(value.origin);
    return value.is("torch.device()") || value.ends_with(".device") || value.ends_with("get_default_device()") ||
           value.ends_with("current_accelerator()");
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
      migration.ledger.note(rule, node, "unsure",
                            "left as it is: nothing tells whether a device is compared with \"cuda\"");
    return false;
  }
  bool done = false;
  for (const Node side : sides) done = rewrite_literals(migration, rule, to_npu(), side, change) || done;
  return done;
}

/// What `place` is where it is a dictionary, or a name that holds one.
Node dictionary_of(Migration& migration, Node place) {
  if (place.is(k_dictionary)) return place;
  if (place.is(k_identifier))
    for (const Binding* binding : migration.script.names().table().reaching(place.text(), place))
      if (binding->how == Binding::How::kAssign && binding->value.is(k_dictionary)) return binding->value;
  return {};
}

/// Rewrites these parts of a dictionary's entries; the row tells their lines.
bool rewrite_entries(Migration& migration, const Rule& rule, Node mapping, const std::vector<Field>& parts,
                     size_t change) {
  bool done = false;
  for (const Node pair : mapping ? mapping.named() : std::vector<Node>())
    for (const Field field : parts) {
      const Node part = pair.child(field);
      if (!part || !rewrite_literals(migration, rule, to_npu(), part, change)) continue;
      done = true;
      Change& row = migration.ledger.row(change);
      row.last_line = std::max(row.last_line, part.last_line());
      row.line = std::min(row.line, part.line());
    }
  return done;
}

/// Of a mapping keys and values are devices.
bool map_location(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Node place = Arguments(node).value(1, "map_location");
  if (!place) return false;
  const bool done = rewrite_literals(migration, rule, to_npu(), place, change);
  const Node mapping = dictionary_of(migration, place);
  return rewrite_entries(migration, rule, mapping, {Field::k_key, Field::k_value}, change) || done;
}

/// {"": "cuda:0"}: modules by name, and where they go.
bool device_map(Migration& migration, const Rule& rule, Node node, size_t change) {
  return rewrite_entries(migration, rule, dictionary_of(migration, node), {Field::k_value}, change);
}

/// x.to("cuda"), x an object of a library that is not torch: only where the file works with torch.
bool library_device(Migration& migration, const Rule& rule, Node node, size_t change) {
  const Node device = Arguments(node).value(0, "device");
  return device && migration.script.imports("torch") && rewrite_literals(migration, rule, to_npu(), device, change);
}

/// Something that tells a tensor's type as text.
bool tells_type(Migration& migration, Node node) {
  if (!node.is(k_call)) return false;
  const Node function = node.child(Field::k_function);
  if (migration.script.names().sure_name(function) == "torch.typename") return true;
  return function.is(k_attribute) && function.child(Field::k_attribute).text() == "type" &&
         node.child(Field::k_arguments).named().empty();
}

/// "torch.cuda.FloatTensor" names a type wherever it is compared; "torch.cuda" does beside x.type().
bool compare_type(Migration& migration, const Rule&, Node node, size_t change) {
  constexpr std::string_view kOld = "torch.cuda";
  std::vector<Node> sides;
  for (const Node side : sides_of(node)) {
    sides.push_back(side);
    if (side.is(k_tuple) || side.is(k_list) || side.is(k_set))
      std::ranges::copy(side.named(), std::back_inserter(sides));
  }
  const bool types = std::ranges::any_of(sides, [&](Node side) { return tells_type(migration, side); });
  bool done = false;
  for (const Node side : sides) {
    if (!side.is(k_string)) continue;
    for (const Value& value : migration.script.names().of(side)) {
      const bool whole = value.text.starts_with("torch.cuda.") && value.text.ends_with("Tensor");
      if (!value.is_text() || !(whole || (types && value.text.starts_with(kOld)))) continue;
      if (!migration.rewriter.take_literal(value.origin)) continue;
      const size_t begin = value.origin.begin;
      migration.rewriter.edits().replace(begin, begin + kOld.size(), "torch.npu", change);
      done = true;
    }
  }
  return done;
}

bool default_type(Migration& migration, const Rule&, Node node, size_t change) {
  const Node type = Arguments(node).at(0);
  if (!type) return false;
  const Values values = migration.script.names().of(type);
  const bool floats = values.size() == 1 && values.begin()->is("torch.cuda.FloatTensor");
  if (!floats) return false;
  const Node function = node.child(Field::k_function);
  const Node name = function.is(k_attribute) ? function.child(Field::k_attribute) : Node();
  if (!name) return false;
  migration.rewriter.edits().replace(name.begin(), name.end(), "set_default_device", change);
  migration.rewriter.edits().replace(type.begin(), type.end(), "\"npu\"", change);
  return true;
}

/// What a dictionary is asked for: `d[key]`, `d.get(key)`; and the dictionary.
std::pair<Node, Node> asked_of(Node node) {
  if (node.is(k_subscript)) return {node.child(Field::k_value), node.child(Field::k_subscript)};
  const Node function = node.is(k_call) ? node.child(Field::k_function) : Node();
  if (!function.is(k_attribute)) return {};
  const std::string_view method = function.child(Field::k_attribute).text();
  if (method != "get" && method != "pop") return {};
  return {function.child(Field::k_object), Arguments(node).at(0)};
}

/// {"cuda": 1}[device.type]: the place is the key.
bool device_key(Migration& migration, const Rule& rule, Node, size_t) {
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const auto [place, key] = asked_of(tree.node(i));
    const Node mapping = place && key ? dictionary_of(migration, place) : Node();
    if (!mapping || !is_device(migration, key)) continue;
    Node found;
    bool known = false;
    for (const Node pair : mapping.named()) {
      const Node name = pair.child(Field::k_key);
      if (!name) continue;
      if (is_plain_device(name)) found = name;
      known = known || (name.is(k_string) && name.text().substr(1).starts_with("npu"));
    }
    if (found && !known && migration.rewriter.meet_once(found))
      migration.ledger.note(rule, found, "manual", rule.message);
  }
  return false;
}

/// `@torch.compile`: one that is called has arguments, and is another rule's.
bool compile_decorator(Migration& migration, const Rule&, Node node, size_t change) {
  if (!node.parent().is(k_decorator)) return false;
  migration.rewriter.edits().append(node.end(), "(backend=\"eager\")", change);
  return true;
}

const CodeEntry kKey("torch-device-key", device_key), kDecorator("torch-compile-decorator", compile_decorator);
const CodeEntry kCompare("torch-compare", compare), kMap("torch-map-location", map_location),
    kDefault("torch-default-type", default_type), kBackend("torch-compare-backend", compare_backend),
    kDeviceMap("torch-device-map", device_map), kLibrary("torch-library-device", library_device),
    kType("torch-compare-type", compare_type);

}  // namespace
}  // namespace npu::migrate
