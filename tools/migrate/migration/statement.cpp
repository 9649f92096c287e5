// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/statement.h"

#include <algorithm>

namespace npu::migrate {
namespace {

using enum Kind;

bool is_docstring(Node statement) {
  return statement.is(k_expression_statement) && statement.named().size() == 1 && statement.named()[0].is(k_string);
}

bool is_import(Node statement) {
  return statement.is(k_import_statement) || statement.is(k_import_from_statement) ||
         statement.is(k_future_import_statement);
}

bool in_class(Node definition) {
  Node above = definition.parent();
  if (above.is(k_decorated_definition)) above = above.parent();
  return above.parent().is(k_class_definition);
}

/// The blanks a statement's line begins with; for one behind a colon, those of its line and four more.
std::string indent_of(const Source& source, Node statement) {
  const std::string& bytes = source.bytes();
  const size_t begin = source.line_begin(statement.line());
  const size_t text = std::min(bytes.find_first_not_of(" \t", begin), bytes.size());
  return bytes.substr(begin, text - begin) + (text == statement.begin() ? "" : "    ");
}

/// Where the line ends that this statement ends on, if nothing but a comment follows there; else its own end.
size_t line_end(const Source& source, Node statement) {
  const std::string& bytes = source.bytes();
  const size_t end = std::min(bytes.find_first_of("\r\n", statement.end()), bytes.size());
  const size_t next = std::min(bytes.find_first_not_of(" \t", statement.end()), end);
  return next == end || bytes[next] == '#' ? end : statement.end();
}

/// Whether a statement is taken away already.
bool goes_whole(Migration& migration, Node statement) {
  return std::ranges::any_of(migration.rewriter.edits().list(), [&](const Edit& edit) {
    return edit.text.empty() && edit.begin <= statement.begin() && statement.end() <= edit.end;
  });
}

/// What goes with a statement that has its lines for itself: up to the next statement, or from the end of the line
/// before; what is put in front of it or behind it by others keeps its place. An empty range where it has not.
std::pair<size_t, size_t> lines_of(const Source& source, Node statement) {
  const std::string& bytes = source.bytes();
  const auto text_of = [&](size_t begin) { return std::min(bytes.find_first_not_of(" \t", begin), bytes.size()); };
  const size_t begin = source.line_begin(statement.line()), after = text_of(statement.end());
  const bool ends = after == bytes.size() || bytes[after] == '\n' || bytes[after] == '\r';
  if (!ends || text_of(begin) != statement.begin()) return {};
  if (const size_t next = statement.last_line() + 1; next <= source.line_count()) {
    const size_t first = source.line_begin(next), deep = statement.begin() - begin;
    if (text_of(first) - first == deep && bytes.compare(first, deep, bytes, begin, deep) == 0)
      return {statement.begin(), text_of(first)};
  }
  if (begin == 0) return {statement.begin(), after};
  return {begin - (begin > 1 && bytes.compare(begin - 2, 2, "\r\n") == 0 ? 2 : 1), after};
}

bool calls_framework(Migration& migration, Node body, const std::string& framework) {
  for (uint32_t i = body.index(); i < body.past(); ++i) {
    const Node node = migration.script.tree().node(i);
    if (!node.is(k_call)) continue;
    for (const Value& value : migration.script.names().of(node.child(Field::k_function)))
      if (value.is_name() && value.spelled().starts_with(framework + ".")) return true;
  }
  return false;
}

/// `lines` with newlines of the file, each line indented.
std::string indented(const std::string& lines, const std::string& newline, const std::string& indent) {
  std::string out;
  for (const char c : lines) c == '\n' ? out += newline + indent : out += c;
  return out;
}

size_t row_of(Migration& migration, const Rule& rule, Node statement, size_t line, std::string message) {
  const size_t row = migration.ledger.change(rule, statement, Change::Kind::kInsert);
  Change& made = migration.ledger.row(row);
  made.line = made.last_line = line;
  made.before.clear();
  made.message = std::move(message);
  return row;
}

}  // namespace

Node statement_of(Node node) {
  while (node.parent() && !node.parent().is(k_block) && !node.parent().is(k_module)) node = node.parent();
  return node;
}

bool drop_statement(Migration& migration, Node expression, size_t change) {
  const bool import = is_import(expression);
  const Node statement = import ? expression : expression.parent(), block = statement.parent();
  if (!import && (!statement.is(k_expression_statement) || statement.named().size() != 1)) return false;
  const auto goes = [&](Node other) { return other == statement || goes_whole(migration, other); };
  const bool empties = !block.is(k_module) && std::ranges::all_of(block.named(), goes);
  const auto [begin, end] = lines_of(migration.script.source(), statement);
  migration.ledger.row(change).kind = Change::Kind::kDelete;
  if (empties || begin == end) {
    migration.ledger.row(change).kind = Change::Kind::kModify;
    migration.rewriter.edits().replace(statement.begin(), statement.end(), "pass", change);
  } else {
    migration.rewriter.edits().replace(begin, end, "", change);
  }
  return true;
}

size_t put_before(Migration& migration, const Rule& rule, Node statement, const std::vector<std::string>& lines,
                  std::string message) {
  const size_t row = row_of(migration, rule, statement, statement.line(), std::move(message));
  const std::string behind =
      std::string(migration.script.source().newline()) + indent_of(migration.script.source(), statement);
  std::string text;
  for (const std::string& line : lines) text += line + behind;
  migration.rewriter.edits().insert(statement.begin(), text, row);
  return row;
}

size_t put_behind(Migration& migration, const Rule& rule, Node statement, const std::vector<std::string>& lines,
                  std::string message) {
  const size_t row = row_of(migration, rule, statement, statement.last_line(), std::move(message));
  const std::string& bytes = migration.script.source().bytes();
  const std::string newline(migration.script.source().newline()),
      indent = indent_of(migration.script.source(), statement);
  const size_t end = bytes.find_first_of("\r\n", statement.end());
  const bool last = end == bytes.npos;
  std::string text;
  for (const std::string& line : lines) text += last ? newline + indent + line : indent + line + newline;
  const size_t past = last ? bytes.size() : end + (bytes.compare(end, 2, "\r\n") == 0 ? 2 : 1);
  migration.rewriter.edits().insert(past, text, row);
  return row;
}

std::string_view parameter_of(Node definition) {
  if (!definition.is(k_function_definition)) return "";
  bool skip = in_class(definition);
  for (const Node parameter : definition.child(Field::k_parameters).named()) {
    if (!std::exchange(skip, false)) {
      if (parameter.is(k_identifier)) return parameter.text();
      if (const Node name = parameter.child(Field::k_name)) return name.text();
      return parameter.named().empty() ? "" : parameter.named()[0].text();
    }
  }
  return "";
}

bool put_body(Migration& migration, const Rule& rule, const std::string& text, Node definition, size_t change) {
  const Node body = definition.child(Field::k_body);
  std::vector<Node> statements = body.named();
  if (!statements.empty() && is_docstring(statements[0])) statements.erase(statements.begin());
  if (statements.empty() || parameter_of(definition).empty()) return false;
  const size_t begin = statements.front().begin(), end = statements.back().end();
  if (migration.script.source().bytes().substr(begin, end - begin) == text) return false;
  if (!rule.needs.empty() && !calls_framework(migration, body, rule.needs)) return false;
  migration.rewriter.edits().replace(begin, end, text, change);
  return true;
}

bool put_around_program(Migration& migration, const std::string& before, const std::string& after, size_t change) {
  if (!migration.script.is_entry()) return false;
  const std::string called = before.substr(before.find("= ") + 2, before.find("()") - before.find("= ") - 2);
  const Tree& tree = migration.script.tree();
  for (uint32_t i = 0; i < tree.size(); ++i)
    if (tree.node(i).is(k_call) && tree.node(i).child(Field::k_function).text().ends_with(called)) return false;
  const Source& source = migration.script.source();
  const std::string newline(source.newline());
  Edits& edits = migration.rewriter.edits();
  if (const Node guard = migration.script.main_guard()) {
    const std::vector<Node> statements = guard.child(Field::k_consequence).named();
    if (statements.empty()) return false;
    const std::string indent = indent_of(source, statements[0]);
    const bool same_line = statements[0].line() == guard.line();
    edits.insert(statements[0].begin(), (same_line ? newline + indent : "") + before + newline + indent, change);
    edits.append(line_end(source, statements.back()), newline + indent + indented(after, newline, indent), change);
    return true;
  }
  const std::vector<Node> statements = tree.root().named();
  size_t count = !statements.empty() && is_docstring(statements[0]) ? 1 : 0;
  while (count < statements.size() && is_import(statements[count])) ++count;
  if (count == 0)
    edits.insert(statements.empty() ? source.bytes().size() : statements[0].begin(), before + newline, change);
  else
    edits.append(line_end(source, statements[count - 1]), newline + before, change);
  const bool closed = source.bytes().ends_with('\n') || source.bytes().ends_with('\r');
  edits.append(source.bytes().size(), (closed ? "" : newline) + indented(after, newline, "") + (closed ? newline : ""),
               change);
  return true;
}

}  // namespace npu::migrate
