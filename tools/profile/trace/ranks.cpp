// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/trace/ranks.h"

#include <algorithm>
#include <set>

#include "base/json.h"

namespace npu::profile {
namespace {

std::vector<std::string_view> members_of(std::string_view text) {
  std::vector<std::string_view> members;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    members.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return members;
}

}  // namespace

std::vector<RankGroup> groups_of(const Trace& trace) {
  std::vector<GroupRecord> records;
  std::set<uint32_t> seen;
  for (const GroupRecord& record : trace.groups)
    if (seen.insert(record.name).second) records.push_back(record);
  std::ranges::stable_sort(records, std::greater<>(), &GroupRecord::size);
  std::vector<RankGroup> groups;
  if (records.empty()) return groups;
  const std::vector<std::string_view> world = members_of(trace.text(records.front().members));
  for (const GroupRecord& record : records) {
    RankGroup group{std::string(trace.text(record.name)), record.rank, {}, groups.empty()};
    const std::vector<std::string_view> members = members_of(trace.text(record.members));
    for (const std::string_view member : members) {
      const auto place = std::ranges::find(world, member);
      if (place != world.end()) group.global_ranks.push_back(static_cast<uint32_t>(place - world.begin()));
    }
    if (group.global_ranks.size() == members.size()) groups.push_back(std::move(group));
  }
  return groups;
}

std::string parallel_groups(const Trace& trace) {
  Json all = Json::object();
  for (const RankGroup& group : groups_of(trace))
    all[group.name] = {{"group_name", group.is_world ? "default_group" : ""},
                       {"group_rank", group.rank},
                       {"global_ranks", group.global_ranks}};
  return all.dump(-1, InvalidUtf8::kReplace);
}

}  // namespace npu::profile
