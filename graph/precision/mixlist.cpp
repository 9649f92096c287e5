// SPDX-License-Identifier: Apache-2.0
// modify_mixlist: {"black-list": {"to-add": ["Relu"], "to-remove": ["Xlog1py"]}, "white-list": {…}, "gray-list":
// {"to-add": […]}}, remarks allowed. What is only removed from a list is gray.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "graph/ir/ir_type.h"
#include "graph/precision/precision.h"

namespace npu::graph {
namespace {

class Mixlist {
 public:
  /// `edited`: where operators stand that are not on the table's list.
  Mixlist(std::string_view text, const std::map<std::string_view, List>& edited, std::vector<std::string>& notices)
      : text_(text), edited_(edited), notices_(notices) {}

  std::map<std::string_view, List> read() {
    const Json root = parse_json(text_);
    if (!root.is_object()) malformed(text_, 0, R"(it is no object; write {"black-list": {"to-add": ["Relu"]}})");
    for (const auto& [name, value] : root.items())
      if (name != "black-list" && name != "white-list" && name != "gray-list")
        malformed(text_, place(name),
                  fmt::format("there is no list \"{}\"; there are black-list, white-list and gray-list", name));
    // Adding wins over removing, whichever stands first.
    for (const char* change : {"to-remove", "to-add"})
      for (const auto& [name, value] : root.items()) read_list(name, value, change);
    return std::move(lists_);
  }

 private:
  size_t place(const std::string& name) const { return member_place(text_, name); }

  void read_list(const std::string& name, const Json& value, std::string_view change) {
    if (!value.is_object()) malformed(text_, place(name), name + R"( is no object; write {"to-add": ["Relu"]})");
    for (const auto& [key, operators] : value.items()) {
      if (key != "to-add" && key != "to-remove")
        malformed(text_, place(key), fmt::format("{} has a member \"{}\"; it takes to-add and to-remove", name, key));
      if (key == change) read_operators(name, key, operators);
    }
  }

  void read_operators(const std::string& list, const std::string& key, const Json& operators) {
    const bool names = operators.is_array() &&
                       std::all_of(operators.begin(), operators.end(), [](const Json& o) { return o.is_string(); });
    if (!names) malformed(text_, place(key), fmt::format("{} of {} is no list of names of operators", key, list));
    const List on = list == "black-list" ? List::kBlack : list == "white-list" ? List::kWhite : List::kGray;
    for (const Json& op : operators) {
      const auto name = op.get<std::string>();
      key == "to-add" ? add(name, on) : take(name, on);
    }
  }

  std::vector<const OperatorPrecision*> meant(const std::string& name) {
    std::vector<const OperatorPrecision*> out;
    for (const OperatorPrecision& op : all_precision())
      if (is_called(op.op, name) && !op.dtypes.empty()) out.push_back(&op);
    if (out.empty()) notices_.push_back(unknown(name));
    return out;
  }

  static std::string unknown(const std::string& name) {
    for (const OperatorPrecision& op : all_precision()) {
      if (is_called(op.op, name)) return fmt::format("{} has no choice of dtype, so no list moves it", name);
      if (lowered(op.op) == lowered(name)) return fmt::format("there is no operator {}; there is {}", name, op.op);
    }
    return fmt::format("{} is no operator with a choice of dtype, so no list moves it", name);
  }

  void add(const std::string& name, List on) {
    for (const OperatorPrecision* op : meant(name)) {
      if (!added_.insert(op->op).second && lists_[op->op] != on)
        malformed(text_, place(name), fmt::format("{} is added to two lists", name));
      lists_[op->op] = on;
    }
  }

  List list_of(const OperatorPrecision& op) const {
    if (const auto at = lists_.find(op.op); at != lists_.end()) return at->second;
    const auto at = edited_.find(op.op);
    return at == edited_.end() ? op.list : at->second;
  }

  void take(const std::string& name, List from) {
    bool found = false;
    const auto operators = meant(name);
    for (const OperatorPrecision* op : operators) {
      if (list_of(*op) != from) continue;
      lists_[op->op] = List::kGray;
      found = true;
    }
    if (!found && !operators.empty())
      notices_.push_back(fmt::format("{} is not on the {} list, so it is not removed from it", name, to_string(from)));
  }

  const std::string_view text_;
  const std::map<std::string_view, List>& edited_;
  std::map<std::string_view, List> lists_;
  std::set<std::string_view> added_;
  std::vector<std::string>& notices_;
};

}  // namespace

std::vector<std::string> Precision::read_mixlist(std::string_view text) {
  std::vector<std::string> notices;
  moved_ = Mixlist(text, edited_->lists, notices).read();
  return notices;
}

}  // namespace npu::graph
