// SPDX-License-Identifier: Apache-2.0
// What becomes of an API on the NPU: the tool's own list (support/tensorflow.tsv), or one that the user gives.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace npu::migrate {

/// What a list says of names of one kind, from support/label.tsv.
struct SupportLabel {
  std::string support;  ///< native, host, migrated, no_effect, unsupported, removed, unknown; "-" where none is so
  std::string label;    ///< of api_analysis_report.xlsx
  std::string field;    ///< of api_brief_report.txt
};

class SupportList {
 public:
  /// The list for a framework ("tensorflow").
  static SupportList built_in(std::string_view framework);
  /// A list of the user's: a workbook in the vendor's form (columns 模块名, API名, 工具迁移API支持度, 说明), or text in
  /// ours (name, support and note, parted by tabs). Raises Refusal.
  static SupportList read(const std::string& path);
  /// In the order of api_brief_report.txt.
  static const std::vector<SupportLabel>& labels();

  struct Found {
    const SupportLabel* label = nullptr;  ///< null for modules, of which nothing is to be said
    std::string note;
  };
  /// By a name as the engine resolves it; what is no name of its own (a method) counts as what it belongs to.
  Found find(std::string name) const;

  /// "tf.nn.relu" of "tensorflow.nn.relu".
  static std::string shown(std::string_view name);
  /// "tf.nn" of "tf.nn.relu", as the vendor's lists part names into modules.
  static std::string module_of(std::string_view shown);

 private:
  struct Entry {
    std::string name;
    const SupportLabel* label;
    std::string note;
  };
  void add(std::string name, const SupportLabel* label, std::string note);
  void read_text(const std::string& file, std::string_view text);
  void read_rows(const std::string& file, const std::vector<std::vector<std::string>>& rows);
  void settle();
  const Entry* exact(std::string_view name) const;
  bool holds_more(std::string_view name) const;

  std::vector<Entry> entries_;  // by name
  std::map<std::string, std::string> aliases_;
};

}  // namespace npu::migrate
