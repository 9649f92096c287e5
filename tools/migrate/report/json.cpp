// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/migrate/report/diff.h"

namespace npu::migrate {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_of(const Change& change) {
  switch (change.kind) {
    case Change::Kind::kInsert: return "insert";
    case Change::Kind::kModify: return "modify";
    case Change::Kind::kDelete: return "delete";
    case Change::Kind::kNote: break;
  }
  return change.report.c_str();
}

Json row_of(const Change& change) {
  return {{"rule", change.rule},           {"kind", kind_of(change)}, {"line", change.line},
          {"last_line", change.last_line}, {"before", change.before}, {"after", change.after},
          {"message", report_line(change)}};
}

}  // namespace

std::string json_report(const std::vector<FileResult>& files, const std::vector<std::string>& failures,
                        const std::vector<std::string>& notes) {
  Json list = Json::array();
  size_t changed = 0, failed = 0;
  for (const FileResult& file : files) {
    Json rows = Json::array();
    for (const Change& change : file.changes) rows.push_back(row_of(change));
    changed += !file.lines.empty();
    failed += !file.failure.empty();
    Json one = {{"path", file.path}, {"changed", !file.lines.empty()}, {"changes", rows}};
    if (!file.failure.empty()) one["failure"] = file.failure;
    if (!file.waits_for.empty()) one["cannot_run_without"] = file.waits_for;
    list.push_back(std::move(one));
  }
  const Json out = {{"files", list},
                    {"failures", failures},
                    {"notes", notes},
                    {"summary", {{"files", files.size()}, {"changed", changed}, {"failed", failed + failures.size()}}}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace npu::migrate
