// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/rule/migration.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <tuple>

#include "tools/migrate/names/known.h"
#include "tools/migrate/rule/action.h"
#include "tools/migrate/rule/pending.h"
#include "tools/migrate/rule/words.h"

namespace npu::migrate {
namespace {

using enum Kind;

/// "f" of "a.b.f", "a.f()" and "?.f"; "*" where a pattern leaves it open.
std::string_view last_component(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view last = dot == name.npos ? name : name.substr(dot + 1);
  return last.find('*') == last.npos ? last : "*";
}

/// Whether a rule means this value: by name, or only perhaps, by the way from an unknown receiver.
enum class Meant { kNo, kPerhaps, kYes };

/// `name`: the value as rules spell it.
Meant meant(const Rule& rule, const Value& value, std::string_view name) {
  const auto fits = [&](const std::string& pattern) { return matches(pattern, name); };
  if (value.is_name() || value.is_text()) {
    if (std::ranges::any_of(rule.except, fits)) return Meant::kNo;
    return value.is_name() && std::ranges::any_of(rule.names, fits) ? Meant::kYes : Meant::kNo;
  }
  if (!value.is_unknown()) return Meant::kNo;
  return std::ranges::any_of(rule.unknown, [&](const std::string& way) { return name.ends_with(way); })
             ? Meant::kPerhaps
             : Meant::kNo;
}

/// An identifier that is read here, not bound, declared, or only a word of the grammar.
bool is_read(Node name) {
  const Node parent = name.parent();
  switch (parent.kind()) {
    case k_keyword_argument:
    case k_default_parameter:
    case k_typed_default_parameter: return name.field() != Field::k_name;
    case k_attribute: return name.field() != Field::k_attribute;
    case k_function_definition:
    case k_class_definition:
    case k_parameters:
    case k_lambda_parameters:
    case k_typed_parameter:
    case k_global_statement:
    case k_nonlocal_statement:
    case k_dotted_name:
    case k_aliased_import:
    case k_pattern_list:
    case k_tuple_pattern:
    case k_list_pattern:
    case k_list_splat_pattern:
    case k_dictionary_splat_pattern:
    case k_splat_pattern:
    case k_keyword_pattern:
    case k_delete_statement:
    case k_as_pattern_target: return false;
    case k_named_expression: return name.field() != Field::k_name;
    case k_assignment:
    case k_augmented_assignment:
    case k_for_statement:
    case k_for_in_clause: return name.field() != Field::k_left;
    default: return true;
  }
}

}  // namespace

RuleIndex::RuleIndex(std::vector<const Rule*> rules) : rules_(std::move(rules)) {
  for (size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = *rules_[i];
    Table& table = tables_[static_cast<size_t>(rule.on)];
    for (const std::string& name : rule.names) {
      if (name.find('*') == name.npos)
        table.exact[name].push_back({&rule, i, name});
      else
        table.by_last[std::string(last_component(name))].push_back({&rule, i, name});
    }
    for (const std::string& way : rule.unknown)
      table.by_last[std::string(last_component(way))].push_back({&rule, i, "?*" + way});
  }
}

std::vector<const Rule*> RuleIndex::meeting(Rule::On on, std::string_view name) const {
  std::vector<const Entry*> found;
  const auto take = [&](const Entries& entries, std::string_view key, bool all) {
    if (const auto at = entries.find(key); at != entries.end())
      for (const Entry& entry : at->second)
        if (all || matches(entry.pattern, name)) found.push_back(&entry);
  };
  const Table& table = tables_[static_cast<size_t>(on)];
  take(table.exact, name, true);
  take(table.by_last, last_component(name), false);
  take(table.by_last, "*", false);
  std::ranges::stable_sort(found, {}, &Entry::order);
  std::vector<const Rule*> out;
  for (const Entry* entry : found)
    if (out.empty() || out.back() != entry->rule) out.push_back(entry->rule);
  return out;
}

Migration::Migration(const Source& source, const PackedTree* packed, const Project& project, std::string path,
                     int32_t file, const RuleIndex& rules, const Options& options, ProgramMap::Part part)
    : tree_(source, packed), options_(options), rules_(rules), names_(tree_, project, path, file, true), part_(part) {
  result_.path = std::move(path);
  result_.before = source.bytes();
}

size_t Migration::change(const Rule& rule, Node node, Change::Kind kind) {
  Change& row = result_.changes.emplace_back();
  row.rule = rule.id;
  row.kind = kind;
  row.line = node.line();
  row.last_line = node.last_line();
  row.begin = node.begin();
  row.end = node.end();
  row.before = one_line(node.text());
  row.message = rule.message;
  return result_.changes.size() - 1;
}

size_t Migration::change_at(const Rule& rule, size_t begin, size_t end) {
  const size_t row = change(rule, tree_.root());
  Change& made = result_.changes[row];
  made.line = source().line(begin);
  made.last_line = source().line(end);
  made.before = one_line(std::string_view(source().bytes()).substr(begin, end - begin));
  return row;
}

void Migration::note(const Rule& rule, Node node, std::string report, std::string message) {
  Change& row = result_.changes[change(rule, node, Change::Kind::kNote)];
  row.report = std::move(report);
  row.message = std::move(message);
}

void Migration::edit_elsewhere(const Rule& rule, const Value& literal, std::string text) {
  Change row;
  row.rule = rule.id;
  row.before = literal.text;
  row.message = rule.message;
  const size_t colon = literal.text.find(':');
  const auto end = literal.origin.begin + static_cast<uint32_t>(std::min(colon, literal.text.size()));
  result_.remote.push_back(
      {{literal.origin.file, literal.origin.begin, end}, std::move(text), std::move(row), colon != literal.text.npos});
}

void Migration::gather_imports() {
  for (uint32_t i = 0; i < tree_.size(); ++i) {
    const Node node = tree_.node(i);
    if (!node.is(k_import_statement) && !node.is(k_import_from_statement)) continue;
    if (const Node module = node.child(Field::k_module_name)) {
      frameworks_.insert(std::string(module.text().substr(0, module.text().find('.'))));
      continue;
    }
    for (const Node each : node.children(Field::k_name)) {
      const std::string_view name = each.is(k_aliased_import) ? each.child(Field::k_name).text() : each.text();
      frameworks_.insert(std::string(name.substr(0, name.find('.'))));
    }
  }
  // A framework's second name counts as itself: keras is tensorflow.
  for (const std::string& name : std::set<std::string>(frameworks_)) {
    const std::string known = known_names().canonical(name);
    frameworks_.insert(known.substr(0, known.find('.')));
  }
}

void Migration::meet(Rule::On on, Node node, Node asked) {
  const Values& values = names_.of(asked);
  std::vector<const Rule*> rules;
  std::vector<std::string> spelled;
  for (const Value& value : values)
    for (const Rule* rule : rules_.meeting(on, spelled.emplace_back(value.spelled())))
      if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
  for (const Rule* rule : rules) {
    size_t yes = 0, perhaps = 0;
    for (size_t i = 0; const Value& value : values) {
      const Meant how = meant(*rule, value, spelled[i++]);
      yes += how == Meant::kYes;
      perhaps += how == Meant::kPerhaps;
    }
    if (on == Rule::On::kCompare && rule->names[0] == "*") continue;  // visit_compared() asks those
    if (yes + perhaps == 0 || (yes == 0 && !rule->needs.empty() && !concerns(rule->needs))) continue;
    apply(*rule, node, yes == values.size(), values);
  }
}

bool Migration::apply(const Rule& rule, Node node, bool sure, const Values& values) {
  if (!sure && rule.unsure == Rule::Unsure::kSkip) return false;
  if (edits_.replaced(node.begin(), node.end())) return false;  // it goes with what stands around it
  if (!rule.report.empty()) {
    const bool part = rule.on == Rule::On::kName && node.parent().is(k_attribute) && node.field() == Field::k_object;
    const auto told = [&](const Change& row) { return row.rule == rule.id; };
    if (rule.once && std::ranges::any_of(result_.changes, told)) return false;
    if (sure && !part) note(rule, node, rule.report, filled(rule.message, node));
    return false;
  }
  if (!sure && rule.unsure == Rule::Unsure::kList) {
    note(rule, node, "unsure",
         fmt::format("left as it is: may be {}; if it is what the rule means: {}", values.spelled(), rule.what));
    return false;
  }
  return rule.needs_open && !runs_open() ? tell_if_open(rule, node) : make(rule, node);
}

/// Where nothing opens the NPU: what the rule would do is taken back, and listed if it is anything.
bool Migration::tell_if_open(const Rule& rule, Node node) {
  const auto taken = taken_;
  const auto met = met_;
  const size_t first = result_.changes.size(), remote = result_.remote.size();
  make(rule, node);
  const bool any = result_.changes.size() > first || result_.remote.size() > remote;
  for (size_t row = first; row < result_.changes.size(); ++row) {
    edits_.drop(row);
    for (auto* wanted : {&imports_, &lines_})
      for (auto& [line, changes] : *wanted) std::erase(changes, row);
  }
  result_.changes.resize(first);
  result_.remote.resize(remote);
  taken_ = taken;
  met_ = met;
  if (any)
    note(rule, node, "manual",
         fmt::format("left as it is: nothing that opens the NPU is seen to run this file; name the script that Python "
                     "is started with by -m, or open the NPU here (npu.open().as_default()): {}",
                     rule.what));
  return false;
}

bool Migration::make(const Rule& rule, Node node) {
  const size_t row = change(rule, node);
  bool done = rule.actions.empty();
  for (const Action& action : rule.actions) done = act(*this, rule, action, node, row) || done;
  std::string taken;
  for (const std::string& line : rule.imports)
    if (done && taken.empty()) taken = taken_name(line, node);
  if (done && taken.empty()) {
    for (const std::string& line : rule.imports) need_import(line, row);
    for (const std::string& line : rule.lines) need_line(line, row);
    return true;
  }
  edits_.drop(row);
  for (auto* wanted : {&imports_, &lines_})
    for (auto& [line, changes] : *wanted) std::erase(changes, row);
  if (result_.changes.size() == row + 1) result_.changes.pop_back();  // else what the rule's code noted stays
  if (!taken.empty())
    note(rule, node, "manual",
         fmt::format("left as it is: the change needs `{}`, and the file gives the name `{}` to something else; rename "
                     "that, then migrate again",
                     rule.imports[0], taken));
  return false;
}

void Migration::record_use(Node node) {
  const Values& values = names_.of(node);
  if (values.size() != 1 || !values.begin()->is_name()) return;
  const Value& value = *values.begin();
  const auto attribute = [](const Step& step) { return step.how == Step::How::kAttribute; };
  if (!value.is_library() || value.path.size() < 2 || !std::ranges::all_of(value.path, attribute)) return;
  if (known_names().is_root(value.path[0].name.text())) result_.uses.push_back({node.line(), value.spelled()});
}

void Migration::visit(Node node) {
  switch (node.kind()) {
    case k_call: return meet(Rule::On::kCall, node, node.child(Field::k_function));
    case k_attribute:
    case k_identifier: {
      if (node.is(k_identifier) && !is_read(node)) return;
      const Node parent = node.parent();
      if (!(parent.is(k_attribute) && node.field() == Field::k_object)) record_use(node);
      return meet(Rule::On::kName, node, node);
    }
    case k_subscript: return meet(Rule::On::kSubscript, node, node.child(Field::k_value));
    case k_function_definition: {
      for (const Rule* rule : rules_.meeting(Rule::On::kDefine, node.child(Field::k_name).text()))
        if (rule->needs.empty() || concerns(rule->needs)) apply(*rule, node, true, {});
      return;
    }
    case k_import_statement:
    case k_import_from_statement: {
      const Node module = node.child(Field::k_module_name);
      std::set<const Rule*> noted;  // once for the module and its names
      const auto ask = [&](Node at, const std::string& dotted) {
        const Value name = Value::library(spelled_path(dotted));
        for (const Rule* rule : rules_.meeting(Rule::On::kImport, dotted))
          if (meant(*rule, name, dotted) != Meant::kNo && (rule->report.empty() || noted.insert(rule).second))
            apply(*rule, at, true, {});
      };
      if (module.is(k_dotted_name)) ask(module, std::string(module.text()));
      if (module.is(k_relative_import)) return;
      for (const Node each : node.children(Field::k_name)) {
        const Node name = each.is(k_aliased_import) ? each.child(Field::k_name) : each;
        ask(name, (module ? std::string(module.text()) + "." : "") + std::string(name.text()));
      }
      return;
    }
    default: return;
  }
}

bool Migration::begins_tensorflow() const {
  return options_.whole ? part_.begins
                        : is_entry() && (imports("tensorflow") || !options_.main.empty()) && may_use_tensorflow();
}

/// Whether it opens an NPU, as it comes out.
bool Migration::opens() const {
  return lines_.contains("npu.open().as_default()") ||
         std::ranges::any_of(result_.uses, [](const Use& use) { return use.name == "npu_device.open"; });
}

/// Whether names of NPUs are known where it runs: where it should open one and cannot, they are not.
bool Migration::runs_open() const {
  const size_t own = static_cast<size_t>(names_.file());
  return part_.begins ? opens() || names_.project().program(own).opens : part_.open;
}

/// A file that imports no framework may begin a program of either; what the other files import tells.
bool Migration::may_use_tensorflow() const {
  return imports("tensorflow") ||
         (!imports("torch") && (!options_.features.contains("torch") || names_.project().uses_tensorflow()));
}

/// Asks the rules about the file as such.
void Migration::meet_file(Rule::On on) {
  std::vector<const Rule*> rules;
  std::set<std::string> asked = frameworks_;
  if (concerns("torch")) asked.insert("torch");
  if (is_entry()) asked.insert("main-file");
  if (begins_tensorflow()) asked.insert("tensorflow-program");
  const auto of_keras = [](const Use& use) { return use.name.find(".keras.") != use.name.npos; };
  // tf.losses of TensorFlow 1 is no Keras, whatever its name means in TensorFlow 2.
  if (std::ranges::any_of(result_.uses, of_keras) && source().bytes().find("keras") != std::string::npos)
    asked.insert("tensorflow.keras");
  for (const std::string& name : asked)
    for (const Rule* rule : rules_.meeting(on, name))
      if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
  for (const Rule* rule : rules) apply(*rule, tree_.root(), true, {});
}

/// Before and after of every row, read from the edits. Of long places only what the change itself touches is told.
void Migration::tell_what_became() {
  constexpr size_t kLong = 120;
  std::map<size_t, std::pair<size_t, size_t>> touched;
  for (const Edit& edit : edits_.list()) {
    const auto [at, fresh] = touched.try_emplace(edit.change, edit.begin, edit.end);
    if (!fresh) at->second = {std::min(at->second.first, edit.begin), std::max(at->second.second, edit.end)};
  }
  for (const auto& [change, range] : touched) {
    Change& row = result_.changes[change];
    // Lines put around a whole program: the row names where they are, not the file.
    const auto replaces = [&](const Edit& edit) { return edit.change == change && edit.begin != edit.end; };
    if (row.line == 1 && row.last_line >= source().line_count() - 1 && std::ranges::none_of(edits_.list(), replaces)) {
      row.kind = Change::Kind::kInsert;
      row.line = source().line(range.first);
      row.last_line = source().line(range.second);
    }
    if (!row.after.empty() || row.kind == Change::Kind::kDelete) continue;
    auto [begin, end] = std::pair(row.begin, row.end);
    if (range.first < begin || range.second > end || end - begin > kLong) std::tie(begin, end) = range;
    row.before = one_line(std::string_view(source().bytes()).substr(begin, end - begin));
    row.after = one_line(edits_.applied(source(), begin, end, change));
  }
}

void Migration::visit_all() {
  // Imports come last: whether one may go depends on what became of its uses.
  const auto imports = [](Node node) { return node.is(k_import_statement) || node.is(k_import_from_statement); };
  for (uint32_t i = 0; i < tree_.size(); ++i)
    if (!imports(tree_.node(i))) visit(tree_.node(i));
  for (uint32_t i = 0; i < tree_.size(); ++i) visit_given(tree_.node(i));
  for (uint32_t i = 0; i < tree_.size(); ++i) visit_compared(tree_.node(i));  // by then it is known what literals mean
  for (uint32_t i = 0; i < tree_.size(); ++i)
    if (imports(tree_.node(i))) visit(tree_.node(i));
}

/// Makes the edits that other files asked for.
void Migration::take_remote(const std::vector<Remote>& remote) {
  for (const Remote& asked : remote) {
    Change row = asked.change;
    row.line = row.last_line = source().line(asked.place.begin);
    row.begin = asked.place.begin;
    row.end = asked.place.end;
    result_.changes.push_back(row);
    put_literal(*this, asked.place, asked.numbered, asked.text, result_.changes.size() - 1);
  }
}

/// Lines at the head that only these changes need are needed no more.
void Migration::forget_needs_of(const std::vector<size_t>& dropped) {
  for (auto* wanted : {&imports_, &lines_}) {
    for (auto& [line, changes] : *wanted)
      std::erase_if(changes, [&](size_t change) { return std::ranges::binary_search(dropped, change); });
    std::erase_if(*wanted, [](const auto& each) { return each.second.empty(); });
  }
}

/// Whether the new text parses if the old one did; else the file stays as it is.
bool Migration::still_parses() {
  if (!result_.changed()) return true;
  const Source after(source().path(), result_.after);
  result_.lines = edits_.lines(source(), after);
  const size_t line = tree_.error_line() == 0 ? Tree(after).error_line() : 0;
  if (line == 0) return true;
  result_.failure =
      fmt::format("{}: the migrated text would not parse at its line {}; the file is left as it is; please report this",
                  source().path(), line);
  result_.after = result_.before;
  result_.lines.clear();
  result_.remote.clear();
  std::erase_if(result_.changes, [](const Change& row) { return row.report.empty(); });
  return false;
}

/// Whether what the row lists went with a change around it: then it is nobody's work any more.
bool Migration::went_with_an_edit(const Change& row) const {
  const std::string_view text = std::string_view(source().bytes()).substr(row.begin, row.end - row.begin);
  return std::ranges::any_of(edits_.list(), [&](const Edit& edit) {
    return edit.begin <= row.begin && row.end <= edit.end && edit.end - edit.begin > row.end - row.begin &&
           edit.text.find(text) == edit.text.npos;
  });
}

/// Rows that came to nothing go; the others in the order of their lines.
void Migration::settle_rows() {
  std::vector<Change> kept;
  std::set<size_t> edited;
  for (const Edit& edit : edits_.list()) {
    edited.insert(edit.change);
    pending_names().warn(edit.text, result_.changes[edit.change]);
  }
  for (size_t i = 0; i < result_.changes.size(); ++i)
    if (edited.contains(i) || (!result_.changes[i].report.empty() && !went_with_an_edit(result_.changes[i])))
      kept.push_back(std::move(result_.changes[i]));
  std::ranges::stable_sort(kept, {}, &Change::line);
  result_.changes = std::move(kept);
}

/// What the face asks of the program as a whole.
void Migration::tell_of_program() {
  const auto uses = [&](std::string_view name) {
    return std::ranges::any_of(result_.uses, [&](const Use& use) { return use.name.ends_with(name); });
  };
  for (const Edit& edit : edits_.list())
    for (std::string& name : pending_names().in(edit.text)) result_.waits_for.insert(std::move(name));
  for (uint32_t i = 0; i < tree_.size(); ++i)  // migrated before
    if (tree_.node(i).is(k_import_statement) || tree_.node(i).is(k_import_from_statement))
      for (std::string& name : pending_names().in(tree_.node(i).text())) result_.waits_for.insert(std::move(name));
  result_.begins = is_entry();
  result_.opens = opens();
  const Program& program = names_.project().program(static_cast<size_t>(names_.file()));
  result_.trains_unopened = program.trains && (program.tensorflow || program.upon) && !program.torch &&
                            options_.whole && !opens() && (part_.begins || !part_.reached);
  result_.wraps =
      imports_.contains("from torch.nn.parallel import DistributedDataParallel") || uses(".DistributedDataParallel");
}

FileResult Migration::run(const std::vector<Remote>& remote) {
  gather_imports();
  meet_file(Rule::On::kFile);
  visit_all();
  take_remote(remote);
  const std::vector<size_t> dropped = edits_.settle();
  if (!edits_.empty() || is_entry()) meet_file(Rule::On::kTouched);
  forget_needs_of(dropped);
  put_head();
  edits_.settle();
  result_.after = edits_.applied(source());
  result_.frameworks = frameworks_;
  if (still_parses()) {
    tell_what_became();
    tell_of_program();
    settle_rows();
  }
  return std::move(result_);
}

}  // namespace npu::migrate
