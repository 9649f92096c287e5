// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/export/string_ids.h"

#include "tools/profile/export/cell.h"

namespace npu::profile {
namespace {

/// A number beyond the last, of a damaged record, is that of no text.
template <class Id, class Make>
const Id& known(std::vector<std::optional<Id>>& all, uint32_t number, Make&& make) {
  std::optional<Id>& place = all[number < all.size() ? number : 0];
  if (!place) place = make();
  return *place;
}

}  // namespace

int64_t StringIds::of(std::string_view text) {
  return ids_.try_emplace(std::string(text), static_cast<int64_t>(ids_.size())).first->second;
}

void StringIds::write(Database& database) const {
  Database::Rows rows(database, "STRING_IDS", "?,?");
  for (const auto& [text, id] : ids_) rows.add(id, std::string_view(text));
  rows.finish();
}

TextIds::TextIds(const Trace& trace, StringIds& ids)
    : trace_(trace),
      ids_(ids),
      texts_(trace.texts.size() + 1),
      workspaces_(texts_.size()),
      units_(static_cast<size_t>(device::trace::Unit::kCollective) + 1),
      parts_(texts_.size()) {}

int64_t TextIds::text(uint32_t number) {
  return known(texts_, number, [&] { return of(trace_.text(number)); });
}

const std::array<int64_t, 3>& TextIds::parts(uint32_t number) {
  return known(parts_, number, [&] {
    const auto parts = parts_of(trace_.text(number));
    return std::array{of(parts[0]), of(parts[1]), of(parts[2])};
  });
}

int64_t TextIds::name(const CallRecord& call) {
  if (call.level != device::trace::Level::kWorkspace) return text(call.name);
  return known(workspaces_, call.name, [&] { return of(name_of(trace_, call)); });
}

int64_t TextIds::name(const TaskRecord& task) {
  return is_collective(task) ? of(name_of(trace_, task)) : text(task.name);
}

int64_t TextIds::unit(const TaskRecord& task) {
  return known(units_, static_cast<uint32_t>(task.unit), [&] { return of(unit_name(task)); });
}

}  // namespace npu::profile
