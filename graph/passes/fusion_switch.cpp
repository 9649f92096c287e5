// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fusion_switch.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "graph/passes/pipeline.h"

namespace npu::graph {
namespace {

constexpr std::string_view kAll = "ALL";

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
      each_line(text_, [&](std::string_view line) { read_line(line); });
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

  void read_line(std::string_view line) {
    const size_t at = place_of(line, text_), colon = line.find(':');
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
    const Json root = parse_json(text_);
    if (!root.contains("Switch")) malformed(text_, text_.find('{'), "there is no member \"Switch\"");
    for (const auto& [name, value] : root.items()) read_member(name, value, FusionGroup::kNone);
  }

  /// Groups may stand in "Switch" or beside it; passes in a group, or in "Switch" itself.
  void read_member(const std::string& name, const Json& value, FusionGroup group) {
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

  size_t place(const std::string& name) const { return member_place(text_, name); }

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
