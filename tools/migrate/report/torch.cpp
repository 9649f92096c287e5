// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/torch.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tools/migrate/files/output.h"
#include "tools/migrate/report/diff.h"
#include "tools/migrate/report/sheet.h"

namespace npu::migrate {
namespace {

constexpr mode_t kReadable = 0644;

/// A field of a CSV file (RFC 4180), safe to open in a spreadsheet.
std::string field(const std::string& text) {
  std::string out = no_formula(text);
  if (out.find_first_of(",\"\r\n") == out.npos) return out;
  std::string quoted = "\"";
  for (const char c : out) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + "\"";
}

const char* operation(const Change& change) {
  if (change.kind == Change::Kind::kInsert) return "INSERT";
  return change.kind == Change::Kind::kDelete || change.after.empty() ? "DELETE" : "MODIFY";
}

std::string change_list(const Outcome& outcome) {
  std::string out = "File,Start Line,End Line,Operation Type,Message\n";
  for (const FileResult& file : outcome.files)
    for (const Change& change : file.changes)
      if (change.report.empty())
        out += fmt::format("{},{},{},{},{}\n", field(file.path), change.line, change.last_line, operation(change),
                           field(report_line(change)));
  return out;
}

Cells unsupported(const Outcome& outcome) {
  Cells out;
  for (const FileResult& file : outcome.files)
    for (const Change& change : file.changes)
      if (change.report == "unsupported")
        out.push_back({no_formula(file.path), std::to_string(change.line), std::to_string(change.last_line),
                       no_formula(change.before.substr(0, change.before.find('('))), no_formula(report_line(change))});
  return out;
}

}  // namespace

void write_torch_reports(const Outcome& outcome, const std::string& folder) {
  write_file(folder + "/change_list.csv", change_list(outcome), kReadable);
  write_sheet(folder + "/unsupported_op.xlsx",
              {"Sheet1", {"File", "Start Line", "End Line", "OP", "Tips"}, {40, 10, 10, 40, 80}, unsupported(outcome)});
}

std::string torch_log(const Outcome& outcome, const std::string& input, const std::string& folder) {
  std::string out;
  const auto now = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
  const auto put = [&](const char* level, const std::string& text) {
    out += fmt::format("{} [{}] {}\n", now, level, text);
  };
  put("INFO", "from " + input);
  put("INFO", "to " + folder);
  for (const FileResult& file : outcome.files) {
    if (file.changes.empty() && file.failure.empty()) continue;
    put("INFO", file.path);
    if (!file.failure.empty()) put("ERROR", file.failure);
    for (const Change& change : file.changes)
      put(change.report.empty() ? "INFO" : "WARNING",
          fmt::format("    line: {} ~ {}  Operation Type: {}  Message: {}", change.line, change.last_line,
                      change.report.empty() ? operation(change) : change.report.c_str(), report_line(change)));
  }
  for (const std::string& note : outcome.notes) put("WARNING", note);
  for (const std::string& failure : outcome.failures) put("ERROR", failure);
  put("INFO", fmt::format("{} of {} files changed", outcome.changed_files(), outcome.files.size()));
  return out;
}

}  // namespace npu::migrate
