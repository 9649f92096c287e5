// SPDX-License-Identifier: Apache-2.0
// Names that rules write because the vendor's adapter has them, and this release of npu_device has not yet.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace npu::migrate {

class PendingNames {
 public:
  /// Lines "name<tab>what it is"; '#' begins a comment line.
  explicit PendingNames(std::string_view table);
  /// Those that `text` has.
  std::vector<std::string> in(std::string_view text) const;
  /// What a name of the table is.
  const std::string& what(const std::string& name) const { return names_.at(name); }
  /// Says so at the end of a row's message where `text` has one of the names.
  void warn(std::string_view text, std::string& message) const;

 private:
  std::map<std::string, std::string> names_;
};

/// The table the tool was built with, rules/pending.tsv.
const PendingNames& pending_names();

}  // namespace npu::migrate
