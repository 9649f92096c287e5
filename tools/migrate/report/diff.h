// SPDX-License-Identifier: Apache-2.0
// What changed in files, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "tools/migrate/migration/change.h"

namespace npu::migrate {

/// A unified diff (patch -p1 takes it); "" where nothing changed. `file` must have its texts.
std::string unified_diff(const FileResult& file);

/// A page of its own: all changed files side by side, with the rows of the report.
std::string html_report(const std::string& title, const std::vector<FileResult>& files,
                        const std::vector<std::string>& notes);

/// One JSON object: files with their rows, and the sums. Texts that are no UTF-8 come with replacement characters.
std::string json_report(const std::vector<FileResult>& files, const std::vector<std::string>& failures,
                        const std::vector<std::string>& notes);

/// Lines changed that lie near each other, with `context` lines around them, within the text.
struct Hunk {
  LineSpan whole;
  std::vector<LineSpan> parts;
};
std::vector<Hunk> hunks(const std::vector<LineSpan>& lines, size_t context, size_t before_count, size_t after_count);

}  // namespace npu::migrate
