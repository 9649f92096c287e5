// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>

#include "tools/migrate/report/diff.h"

namespace npu::migrate {
namespace {

const char* kind_of(const Change& change) {
  switch (change.kind) {
    case Change::Kind::kInsert: return "insert";
    case Change::Kind::kModify: return "modify";
    case Change::Kind::kDelete: return "delete";
    case Change::Kind::kNote: break;
  }
  return change.report.c_str();
}

OrderedJson row_of(const Change& change) {
  return {{"rule", change.rule},           {"kind", kind_of(change)}, {"line", change.line},
          {"last_line", change.last_line}, {"before", change.before}, {"after", change.after},
          {"message", report_line(change)}};
}

}  // namespace

std::string json_report(const std::vector<FileResult>& files, const std::vector<std::string>& failures,
                        const std::vector<std::string>& notes) {
  OrderedJson list = OrderedJson::array();
  size_t changed = 0, failed = 0;
  for (const FileResult& file : files) {
    OrderedJson rows = OrderedJson::array();
    for (const Change& change : file.changes) rows.push_back(row_of(change));
    changed += !file.lines.empty();
    failed += !file.failure.empty();
    OrderedJson one = {{"path", file.path}, {"changed", !file.lines.empty()}, {"changes", rows}};
    if (!file.failure.empty()) one["failure"] = file.failure;
    if (!file.waits_for.empty()) one["cannot_run_without"] = file.waits_for;
    list.push_back(std::move(one));
  }
  const OrderedJson out = {
      {"files", list},
      {"failures", failures},
      {"notes", notes},
      {"summary", {{"files", files.size()}, {"changed", changed}, {"failed", failed + failures.size()}}}};
  return out.dump(1, InvalidUtf8::kReplace) + "\n";
}

}  // namespace npu::migrate
