// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/note_count.h"

#include <fmt/format.h>

#include <algorithm>

namespace npu::migrate {

NoteCounts::NoteCounts(const std::vector<FileResult>& files) {
  for (const FileResult& file : files)
    for (const Change& change : file.changes)
      if (!change.report.empty()) places_[kind(change)].push_back({&file, &change});
}

bool NoteCounts::is_first(const Change& change) const {
  return change.report.empty() || places_.at(kind(change)).front().change == &change;
}

std::string NoteCounts::others(const Change& change) const {
  constexpr size_t kMost = 8;
  if (change.report.empty()) return "";
  const std::vector<Place>& places = places_.at(kind(change));
  if (places.size() == 1) return "";
  std::vector<std::string> shown;
  for (size_t i = 1; i < std::min(places.size(), kMost + 1); ++i) {
    const bool same_file = places[i].file == places[i - 1].file;
    shown.push_back((same_file ? "" : places[i].file->path + ":") + std::to_string(places[i].change->line));
  }
  const size_t left = places.size() - 1 - shown.size();
  return fmt::format(" ({} places: also {}{})", places.size(), fmt::join(shown, ", "),
                     left == 0 ? "" : fmt::format(" and {} more, which --json lists", left));
}

}  // namespace npu::migrate
