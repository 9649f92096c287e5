// SPDX-License-Identifier: Apache-2.0
// Notes of a run that say the same of several places: one line of the output for all of them.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tools/migrate/migration/change.h"

namespace npu::migrate {

class NoteCounts {
 public:
  /// `files` must outlive it.
  explicit NoteCounts(const std::vector<FileResult>& files);
  /// Whether this is a change, or the first of the notes that say so.
  bool is_first(const Change& change) const;
  /// " (3 places: also 7, sub/b.py:4)", with the path where it is another file's; "" for a change and a single place.
  std::string others(const Change& change) const;

 private:
  using Kind = std::tuple<std::string, std::string, std::string>;  // rule, report, message
  struct Place {
    const FileResult* file;
    const Change* change;
  };
  static Kind kind(const Change& change) { return {change.rule, change.report, change.message}; }
  std::map<Kind, std::vector<Place>> places_;
};

}  // namespace npu::migrate
