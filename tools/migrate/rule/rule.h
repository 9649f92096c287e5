// SPDX-License-Identifier: Apache-2.0
// A rule of migration, as data: what it meets, what it then does, why, and examples that are its tests. rules/*.yaml
// hold them; rules/README.md is the reference of the form.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npu::migrate {

/// One step of what a rule does to the place it met. In texts, {self}, {callee}, {object}, {name}, {first} and {old}
/// stand for what the file has there (migration/action.cpp).
struct Action {
  enum class What {
    kCallee,     ///< call: another callee
    kAttribute,  ///< another last name: `a.cuda` becomes `a.npu`
    kDotted,     ///< another dotted name in the place of `a.b.c`; a single name comes from an import and stays
    kReplace,    ///< another expression in the place of the whole one
    kWrap,       ///< `text` before it, `after` behind it
    kSet,        ///< call: keyword `key` becomes `text`, added where it is not there
    kDefault,    ///< call: keyword `key` (by the name `keyword`, if given) is added as `text` where it is not there
    kRename,     ///< call: keyword `key` is called `text`
    kRemove,     ///< call: keyword `key` goes, or what stands at `position` for it
    kArgument,   ///< call: the argument `position` or `key` is put between `text` and `after`; where it is missing,
                 ///< `missing` is added as keyword `key`
    kKeep,       ///< call: only the argument `position` or `key` stays
    kLiteral,    ///< call: a string that begins with `key` and may reach argument `position` or `keyword`: begins with
                 ///< `text`
    kBody,       ///< definition: `text` becomes its body
    kEntry,      ///< file: `text` before what the program does, `after` behind it
    kCode        ///< what no data says: the function `text` of migration/code.h
  };
  What what{};
  std::string key, text, after, missing, keyword;
  int position = -1;
};

struct Example {
  std::string before, after;       ///< `after` equals `before` where nothing is to change
  std::set<std::string> features;  ///< beside the rule's own
  std::string path;                ///< file name, where the rule asks for one
  std::string main;                ///< the entry file that is named, if any
  std::optional<int> notes;        ///< how many rows of the rule are listed only; 0 for rules that report
  std::string says;                ///< stands in a message of the rule's rows
  int line = 0;                    ///< in the rule file, for messages
};

struct Rule {
  /// kFile: files that import it, before all else; kTouched: those of them in which something was changed, or the entry
  /// file, after all else. "main-file" is imported by the file the
  /// program begins in, "tensorflow-program" by it where it is one of TensorFlow.
  enum class On { kCall, kName, kImport, kDefine, kCompare, kFile, kTouched, kSubscript, kGiven };
  static constexpr size_t kWaysToMeet = static_cast<size_t>(On::kGiven) + 1;
  enum class Unsure { kList, kChange, kSkip };

  std::string id, what, why;
  On on = On::kCall;
  std::vector<std::string> names;      ///< dotted names, `*` for any characters; of things it meets
  std::vector<std::string> unknown;    ///< ways from an unknown receiver that may be meant: ".cuda"
  std::vector<std::string> except;     ///< names that are not meant
  bool once = false;                   ///< of what it reports, one row a file
  bool needs_open = false;             ///< only in files that run with the NPU open; elsewhere the place is listed
  std::string needs;                   ///< unknown receivers count only in files that import this
  Unsure unsure = Unsure::kList;       ///< where only some of the possible values are meant, or the receiver is unknown
  std::set<std::string> when, unless;  ///< features: all of `when` must be on, none of `unless`
  std::vector<Action> actions;
  std::vector<std::string> imports;  ///< lines that the new text needs at the head of the file
  std::vector<std::string> lines;    ///< lines right after those imports
  std::string message;               ///< of the report; "" makes one of before and after
  std::string report;                ///< "" for a change; "unsupported" or "manual": nothing is changed, it is listed
  std::vector<Example> examples;
};

class RuleBook {
 public:
  /// The rules the tool was built with.
  static RuleBook built_in();

  /// Reads rules of our own form. Refuses (Refusal) what the form does not know, naming file, line and cure.
  void read(const std::string& file, std::string_view text);
  /// Reads the vendor's JSON form ({"rules": {"ArgsModifyRule": [...], …}}).
  void read_vendor(const std::string& file, std::string_view text);
  /// A rule by its id, or a family of rules by what their ids begin with up to a '-'.
  void turn_off(const std::string& id);

  /// Those whose `when` and `unless` hold.
  std::vector<const Rule*> active(const std::set<std::string>& features) const;
  const Rule* find(std::string_view id) const;
  const std::vector<Rule>& all() const { return rules_; }

 private:
  std::vector<Rule> rules_;
};

}  // namespace npu::migrate
