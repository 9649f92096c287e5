// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/diff.h"

#include <gtest/gtest.h>

namespace npu::migrate {
namespace {

FileResult changed(std::string before, std::string after, std::vector<LineSpan> lines) {
  FileResult file;
  file.path = "a.py";
  file.before = std::move(before);
  file.after = std::move(after);
  file.lines = std::move(lines);
  return file;
}

TEST(Diff, NothingChanged) { EXPECT_EQ(unified_diff(changed("a\n", "a\n", {})), ""); }

TEST(Diff, AnInsertedLine) {
  EXPECT_EQ(unified_diff(changed("a\nb\n", "a\nx\nb\n", {{2, 2, 2, 3}})),
            "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n a\n+x\n b\n");
}

TEST(Diff, AMissingEndOfTheLastLine) {
  EXPECT_EQ(
      unified_diff(changed("a", "b", {{1, 2, 1, 2}})),
      "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n");
}

TEST(Diff, NearChangesShareAHunkAndFarOnesDoNot) {
  std::string before, after;
  for (int i = 1; i <= 30; ++i) {
    before += std::to_string(i) + "\n";
    after += (i == 2 || i == 6 || i == 25 ? "x" : std::to_string(i)) + "\n";
  }
  const std::string diff = unified_diff(changed(before, after, {{2, 3, 2, 3}, {6, 7, 6, 7}, {25, 26, 25, 26}}));
  EXPECT_NE(diff.find("@@ -1,9 +1,9 @@\n"), diff.npos);
  EXPECT_NE(diff.find("@@ -22,7 +22,7 @@\n"), diff.npos);
}

TEST(Json, TextsThatAreNoUtf8AreReplaced) {
  FileResult file;
  file.path = "a\xff.py";
  EXPECT_NE(json_report({file}, {}, {}).find("\uFFFD"), std::string::npos);
}

TEST(Html, WhatStandsInFilesIsEscaped) {
  FileResult file = changed("<a&\"\n", "b\n", {{1, 2, 1, 2}});
  file.changes.emplace_back();
  EXPECT_NE(html_report("<t>", {file}, {"<n>"}).find("&lt;a&amp;&quot;"), std::string::npos);
  EXPECT_EQ(html_report("<t>", {file}, {"<n>"}).find("<t>"), std::string::npos);
  EXPECT_NE(html_report("<t>", {file}, {"<n>"}).find("note: &lt;n&gt;"), std::string::npos);
}

}  // namespace
}  // namespace npu::migrate
