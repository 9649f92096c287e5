// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/migrate/report/diff.h"
#include "tools/migrate/report/sheet.h"
#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

constexpr size_t kContext = 3;
constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body{{font-family:sans-serif;margin:1.5em;color:#1b1b1b;background:#fff}}
table{{border-collapse:collapse;width:100%;table-layout:fixed;margin-bottom:1em}}
td{{font-family:monospace;font-size:13px;white-space:pre-wrap;overflow-wrap:anywhere;vertical-align:top;padding:0 .4em}}
col.n{{width:3.5em}}
td.n{{text-align:right;color:#666;user-select:none}}
td.old{{background:#ffeaea}}td.new{{background:#e6f7e6}}td.gap{{background:#f2f2f2;color:#666}}
li.unsupported{{color:#a00000}}li.manual,li.unsure{{color:#8a5a00}}summary{{font-weight:bold;cursor:pointer}}
</style></head><body><h1>{title}</h1>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : clean(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c != '\n')
      out += c;
  }
  return out;
}

/// One half of a row of the table; number 0 is an empty half.
std::string half(size_t number, std::string_view line, const char* kind) {
  if (number == 0) return "<td class=\"n\"></td><td></td>";
  return fmt::format("<td class=\"n\">{}</td><td class=\"{}\">{}</td>", number, kind, escaped(line));
}

void put_table(std::string& out, const FileResult& file) {
  const auto before = split_lines(file.before), after = split_lines(file.after);
  const auto same = [&](size_t old, size_t fresh) {
    out += "<tr>" + half(old, before[old - 1], "") + half(fresh, after[fresh - 1], "") + "</tr>\n";
  };
  out += R"(<table><colgroup><col class="n"><col><col class="n"><col></colgroup>)";
  for (const Hunk& hunk : hunks(file.lines, kContext, before.size(), after.size())) {
    size_t old = hunk.whole.begin, fresh = hunk.whole.after_begin;
    out += "<tr><td class=\"gap\" colspan=\"4\">…</td></tr>\n";
    for (const LineSpan& part : hunk.parts) {
      while (old < part.begin) same(old++, fresh++);
      while (old < part.end || fresh < part.after_end) {
        const bool has_old = old < part.end, has_new = fresh < part.after_end;
        out += "<tr>" + half(has_old ? old : 0, has_old ? before[old - 1] : "", "old");
        out += half(has_new ? fresh : 0, has_new ? after[fresh - 1] : "", "new") + "</tr>\n";
        old += has_old, fresh += has_new;
      }
    }
    while (old < hunk.whole.end) same(old++, fresh++);
  }
  out += "</table>\n";
}

}  // namespace

std::string html_report(const std::string& title, const std::vector<FileResult>& files,
                        const std::vector<std::string>& notes) {
  std::string out = fmt::format(fmt::runtime(kHead), fmt::arg("title", escaped(title)));
  for (const std::string& note : notes) out += fmt::format("<p>note: {}</p>\n", escaped(note));
  size_t shown = 0;
  for (const FileResult& file : files) {
    if (file.changes.empty() && file.failure.empty()) continue;
    ++shown;
    out += fmt::format("<details open><summary>{}</summary>\n", escaped(file.path));
    if (!file.failure.empty()) out += fmt::format("<p>{}</p>\n", escaped(file.failure));
    out += "<ul>\n";
    for (const Change& change : file.changes)
      out += fmt::format("<li class=\"{}\">line {}: {}{} <code>[{}]</code></li>\n", escaped(change.report), change.line,
                         change.report.empty() ? "" : escaped(change.report) + ": ", escaped(report_line(change)),
                         escaped(change.rule));
    out += "</ul>\n";
    if (!file.lines.empty()) put_table(out, file);
    out += "</details>\n";
  }
  if (shown == 0) out += "<p>Nothing is to be migrated.</p>\n";
  return out + "</body></html>\n";
}

}  // namespace npu::migrate
