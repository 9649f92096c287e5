// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/run/notebook_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/migrate/text/words.h"

namespace npu::migrate {
namespace {

bool names_gpu(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  static constexpr std::array<std::string_view, 4> kWords = {"cuda", "gpu", "nvidia", "nccl"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return small.find(word) != small.npos; });
}

Change listed(size_t line, std::string_view text, std::string message) {
  Change out;
  out.rule = "notebook-line";
  out.kind = Change::Kind::kNote;
  out.report = "manual";
  out.line = out.last_line = line;
  out.before = one_line(text);
  out.message = std::move(message);
  return out;
}

void put_rows(const Notebook& notebook, FileResult& file) {
  for (const Notebook::Magic& magic : notebook.magics())
    if (names_gpu(magic.text))
      file.changes.push_back(
          listed(magic.line, magic.text,
                 fmt::format("a line that is no Python is left as it is, and names a GPU: {}", one_line(magic.text))));
  for (const size_t line : notebook.broken())
    file.changes.push_back(listed(line, "",
                                  "the cell is left as it is: it is no Python, for a bracket or a text stays open; "
                                  "mend it, then migrate again"));
  std::ranges::stable_sort(file.changes, {}, &Change::line);
}

void place_rows(const Notebook& notebook, FileResult& file) {
  for (Change& change : file.changes) {
    const Notebook::Where where = notebook.where(change.line), last = notebook.where(change.last_line);
    change.message = fmt::format("cell {}, line {}: {}", where.cell, where.line_in_cell, report_line(change));
    change.line = where.line;
    change.last_line = std::max(where.line, last.line);
  }
  for (Use& use : file.uses) use.line = notebook.where(use.line).line;
}

}  // namespace

FileResult in_notebook(const Notebook& notebook, FileResult&& python) {
  FileResult file = std::move(python);
  const Edits edits = notebook.edits(Source(file.path, file.after), file.lines);
  const bool of_frameworks = file.frameworks.contains("tensorflow") || file.frameworks.contains("torch");
  if (of_frameworks) put_rows(notebook, file);
  place_rows(notebook, file);
  file.before = notebook.source().bytes();
  file.after = edits.applied(notebook.source());
  file.lines = edits.lines(notebook.source(), Source(file.path, file.after));
  return file;
}

}  // namespace npu::migrate
