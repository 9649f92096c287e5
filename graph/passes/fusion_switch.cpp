// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fusion_switch.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"

namespace npu::graph {
namespace {

constexpr std::string_view kAll = "ALL";

[[noreturn]] void malformed(std::string_view text, size_t at, std::string_view what) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  fail(Code::kNnInvalidParam, "line {}, column {}: {}", line, before.size() - begin + 1, what);
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<bool> on_or_off(std::string_view value) {
  if (value == "on") return true;
  if (value == "off") return false;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  FusionSwitch read() {
    const size_t first = text_.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text_[first] == '{')
      read_json();
    else
      read_lines();
    return result();
  }

 private:
  void put(std::string_view name, bool on, FusionGroup group) {
    if (name == kAll) {
      if (group != FusionGroup::kBuffer) all_[FusionGroup::kGraph] = on;
      if (group != FusionGroup::kGraph) all_[FusionGroup::kBuffer] = on;
      return;
    }
    bool known = false;
    for (const Pass& pass : all_passes()) {
      const bool mine = pass.group != FusionGroup::kNone &&
                        (pass.name == name || std::ranges::find(pass.aliases, name) != pass.aliases.end());
      if (!mine) continue;
      known = true;
      // One that is switched off by any of its names is off.
      const auto [at, fresh] = named_.emplace(pass.name, on);
      if (!fresh) at->second = at->second && on;
    }
    if (!known && std::ranges::find(unknown_, name) == unknown_.end()) unknown_.emplace_back(name);
  }

  void read_lines() {
    for (size_t at = 0; at < text_.size();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      read_line(text_.substr(at, end - at), at);
      at = end + 1;
    }
  }

  void read_line(std::string_view line, size_t at) {
    if (trimmed(line).empty() || trimmed(line).front() == '#') return;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      malformed(text_, at, "a line names a pass and says on or off, as in elementwise:off");
    const std::string_view name = trimmed(line.substr(0, colon));
    if (name.empty()) malformed(text_, at, "there is no name before the colon");
    const std::optional<bool> on = on_or_off(trimmed(line.substr(colon + 1)));
    if (!on)
      malformed(text_, at + colon + 1,
                fmt::format("{} is '{}'; it is on or off", name, trimmed(line.substr(colon + 1))));
    put(name, *on, FusionGroup::kNone);
  }

  void read_json() {
    nlohmann::json root;
    try {
      root = nlohmann::json::parse(text_);
    } catch (const nlohmann::json::parse_error& e) {
      // The byte is counted from 1 and is the last one read.
      malformed(text_, e.byte == 0 ? 0 : e.byte - 1, "this is no JSON: " + reason(e.what()));
    }
    if (!root.contains("Switch")) malformed(text_, text_.find('{'), "there is no member \"Switch\"");
    for (const auto& [name, value] : root.items()) read_member(name, value, FusionGroup::kNone);
  }

  /// Groups may stand in "Switch" or beside it; passes in a group, or in "Switch" itself.
  void read_member(const std::string& name, const nlohmann::json& value, FusionGroup group) {
    if (value.is_object()) {
      if (name != "Switch" && name != "GraphFusion" && name != "UBFusion")
        malformed(text_, place(name), fmt::format("{} is no group; there are GraphFusion and UBFusion", name));
      const FusionGroup inner = name == "GraphFusion" ? FusionGroup::kGraph
                                : name == "UBFusion"  ? FusionGroup::kBuffer
                                                      : group;
      for (const auto& [key, member] : value.items()) read_member(key, member, inner);
      return;
    }
    const std::optional<bool> on = value.is_string() ? on_or_off(value.get<std::string>()) : std::nullopt;
    if (!on) malformed(text_, place(name), fmt::format("{} is {}; it is \"on\" or \"off\"", name, value.dump()));
    put(name, *on, group);
  }

  size_t place(const std::string& name) const { return text_.find('"' + name + '"'); }

  /// What the parser says, without its own number and position.
  static std::string reason(std::string_view what) {
    const size_t at = what.find(": ", what.find("column"));
    return std::string(at == std::string_view::npos ? what : what.substr(at + 2));
  }

  FusionSwitch result() const {
    FusionSwitch out;
    out.unknown = unknown_;
    for (const Pass& pass : all_passes()) {
      if (pass.group == FusionGroup::kNone) continue;
      const auto named = named_.find(pass.name);
      const auto all = all_.find(pass.group);
      const bool on = named != named_.end() ? named->second : all == all_.end() || all->second;
      if (!on) out.off.emplace_back(pass.name);
    }
    return out;
  }

  const std::string_view text_;
  std::map<std::string_view, bool> named_;
  std::map<FusionGroup, bool> all_;
  std::vector<std::string> unknown_;
};

}  // namespace

FusionSwitch read_fusion_switch(std::string_view text) { return Reader(text).read(); }

}  // namespace npu::graph
