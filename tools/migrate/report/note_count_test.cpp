// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/note_count.h"

#include <gtest/gtest.h>

namespace npu::migrate {
namespace {

FileResult file(const std::string& path, const std::vector<size_t>& lines, const std::string& message) {
  FileResult out;
  out.path = path;
  for (const size_t line : lines) {
    Change& row = out.changes.emplace_back();
    row.rule = "rule";
    row.report = "manual";
    row.line = line;
    row.message = message;
  }
  return out;
}

TEST(NoteCounts, TellsEqualNotesOnce) {
  std::vector<FileResult> files = {file("a.py", {3, 7}, "look"), file("b.py", {4, 5}, "look")};
  files[1].changes.push_back(file("b.py", {9}, "look there").changes[0]);
  const NoteCounts counts(files);
  EXPECT_TRUE(counts.is_first(files[0].changes[0]));
  EXPECT_FALSE(counts.is_first(files[0].changes[1]));
  EXPECT_FALSE(counts.is_first(files[1].changes[0]));
  EXPECT_TRUE(counts.is_first(files[1].changes[2]));
  EXPECT_EQ(counts.others(files[0].changes[0]), " (4 places: also 7, b.py:4, 5)");
  EXPECT_EQ(counts.others(files[1].changes[2]), "");
}

TEST(NoteCounts, LeavesChangesAlone) {
  std::vector<FileResult> files = {file("a.py", {3, 7}, "")};
  for (Change& row : files[0].changes) row.report.clear();
  const NoteCounts counts(files);
  EXPECT_TRUE(counts.is_first(files[0].changes[0]));
  EXPECT_TRUE(counts.is_first(files[0].changes[1]));
  EXPECT_EQ(counts.others(files[0].changes[1]), "");
}

TEST(NoteCounts, ShowsOfManyTheFirst) {
  const std::vector<FileResult> files = {file("a.py", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, "look")};
  EXPECT_EQ(NoteCounts(files).others(files[0].changes[0]),
            " (11 places: also 2, 3, 4, 5, 6, 7, 8, 9 and 2 more, which --json lists)");
}

}  // namespace
}  // namespace npu::migrate
