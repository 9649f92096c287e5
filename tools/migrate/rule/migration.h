// SPDX-License-Identifier: Apache-2.0
// One file under the rules: every place is met by its resolved name, edits are gathered, and the new text is checked.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/migrate/names/evaluate.h"
#include "tools/migrate/rule/change.h"
#include "tools/migrate/rule/program_map.h"
#include "tools/migrate/rule/rule.h"
#include "tools/migrate/text/edit.h"

namespace npu::migrate {

/// Rules by how places are met, made once for a run.
class RuleIndex {
 public:
  explicit RuleIndex(std::vector<const Rule*> rules);
  /// Rules of this kind that may mean `name` ("?.cuda" for an unknown receiver), in the order of the book.
  std::vector<const Rule*> meeting(Rule::On on, std::string_view name) const;
  const std::vector<const Rule*>& all() const { return rules_; }

 private:
  struct Entry {
    const Rule* rule;
    size_t order;
    std::string pattern;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // nodes are asked about by the million: no key is made for it
  };
  using Entries = std::unordered_map<std::string, std::vector<Entry>, Hash, std::equal_to<>>;
  struct Table {
    Entries exact, by_last;  // by_last: by last component; "*" for any
  };
  std::vector<const Rule*> rules_;
  std::array<Table, Rule::kWaysToMeet> tables_;
};

struct Options {
  std::set<std::string> features;  ///< "tf2", "compat", "horovod", "main-file" …
  std::string main;                ///< the entry file, below the input; "" where none is named
  /// All files of the project are there: which of them are programs is read from them, and who runs with the NPU open.
  bool whole = false;
  bool alone = false;           ///< there is no other file: where none is named, the program begins in this one
  std::string model = "model";  ///< "distributed": the variable that holds the model
};

class Migration {
 public:
  /// `packed`: the file's tree, where one was kept.
  Migration(const Source& source, const PackedTree* packed, const Project& project, std::string path, int32_t file,
            const RuleIndex& rules, const Options& options, ProgramMap::Part part);

  /// Edits that other files asked for come in `remote`.
  FileResult run(const std::vector<Remote>& remote);

  // For actions and coded rules:
  Evaluator& names() { return names_; }
  const Tree& tree() const { return tree_; }
  const Source& source() const { return tree_.source(); }
  const Options& options() const { return options_; }
  /// Begins a row of the report for `node`; edits name it by the number that comes back.
  size_t change(const Rule& rule, Node node, Change::Kind kind = Change::Kind::kModify);
  /// A row for something that stands elsewhere in this file.
  size_t change_at(const Rule& rule, size_t begin, size_t end);
  Change& row(size_t change) { return result_.changes[change]; }
  Edits& edits() { return edits_; }
  void note(const Rule& rule, Node node, std::string report, std::string message);
  /// A line the file needs at its head; made once, and only if the change survives (kAlways: in any case).
  void need_import(const std::string& line, size_t change) { imports_[line].push_back(change); }
  /// A line right after those imports.
  void need_line(const std::string& line, size_t change) { lines_[line].push_back(change); }
  static constexpr size_t kAlways = static_cast<size_t>(-1);
  /// Whether a literal is met for the first time; it is then taken to mean what the rule says.
  bool take_literal(const Place& place) { return taken_.insert({place.file, place.begin}).second; }
  bool is_taken(const Place& place) const { return taken_.contains({place.file, place.begin}); }
  /// True for the first of several places that ask about one node.
  bool meet_once(Node node) { return met_.insert(node.index()).second; }
  void edit_elsewhere(const Rule& rule, const Value& literal, std::string text);
  bool imports(std::string_view framework) const { return frameworks_.contains(std::string(framework)); }
  /// Whether rules that need a framework look at this file: it imports it, or a process of PyTorch begins here, which
  /// takes it for one that does in every later run, too.
  bool concerns(std::string_view framework) const;
  /// Whether the file has this line (an import) already, however it is spelled.
  bool has_import(const std::string& line);
  /// The name that an import would bind, if at `node` it means something else already; or "".
  std::string taken_name(const std::string& line, Node node);
  /// The `if __name__ == "__main__":` of the file, or none.
  Node main_guard() const;
  /// Whether the program begins in this file: it is the one that was named, or none was and it has a main
  /// guard or is the only one.
  bool is_entry() const;
  /// Whether a program of TensorFlow begins in this file, so that it is to open the NPU.
  bool begins_tensorflow() const;

 private:
  void visit_all();
  void take_remote(const std::vector<Remote>& remote);
  void forget_needs_of(const std::vector<size_t>& dropped);
  bool still_parses();
  void settle_rows();
  bool went_with_an_edit(const Change& row) const;
  void tell_of_program();
  void visit(Node node);
  void meet(Rule::On on, Node node, Node asked);
  bool apply(const Rule& rule, Node node, bool sure, const Values& values);
  bool make(const Rule& rule, Node node);
  bool tell_if_open(const Rule& rule, Node node);
  void meet_file(Rule::On on);
  void visit_given(Node node);
  void visit_compared(Node node);
  void give(std::string_view name, Node value);
  void put_head();
  void tell_what_became();
  void put_after_import(const Rule& asking, const std::string& line, std::string_view framework,
                        const std::vector<size_t>& changes);
  std::vector<Node> needed_behind(const std::vector<Node>& imports, const std::vector<size_t>& changes) const;
  void gather_imports();
  void record_use(Node node);
  bool may_use_tensorflow() const;
  bool opens() const;
  bool runs_open() const;
  bool sets_environment(Node statement);
  bool may_load_framework(Node statement) const;
  Node head_place();

  Tree tree_;
  const Options& options_;
  const RuleIndex& rules_;
  Evaluator names_;
  Edits edits_;
  FileResult result_;
  const ProgramMap::Part part_;
  std::map<std::string, std::vector<size_t>> imports_, lines_;
  std::set<std::string> frameworks_;
  std::set<std::pair<int32_t, uint32_t>> taken_;  // literals, by file and first byte
  std::set<uint32_t> met_;
};

}  // namespace npu::migrate
