// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/edit.h"

#include <gtest/gtest.h>

namespace npu::migrate {
namespace {

std::vector<LineSpan> lines(const std::string& text, Edits edits) {
  const Source before("a.py", text);
  edits.settle();
  const Source after("a.py", edits.applied(before));
  return edits.lines(before, after);
}

TEST(Lines, AnInsertedLineReplacesNone) {
  Edits edits;
  edits.insert(2, "new\n", 0);
  EXPECT_EQ(lines("a\nb\nc\n", edits), (std::vector<LineSpan>{{2, 2, 2, 3}}));
}

TEST(Lines, AWordInsideALineIsThatLine) {
  Edits edits;
  edits.replace(3, 4, "xy", 0);
  edits.replace(6, 7, "z", 1);
  EXPECT_EQ(lines("a\nbbbbbb\nc\n", edits), (std::vector<LineSpan>{{2, 3, 2, 3}}));
}

TEST(Lines, ALineThatGrowsAndOneThatGoes) {
  Edits edits;
  edits.insert(1, "\nmore", 0);
  edits.replace(4, 6, "", 1);
  EXPECT_EQ(lines("a\nb\nc\nd", edits), (std::vector<LineSpan>{{2, 2, 2, 3}, {3, 4, 4, 4}}));
}

TEST(Lines, TheLastLineWithoutItsEnd) {
  Edits edits;
  edits.insert(3, "\nmore\n", 0);
  EXPECT_EQ(lines("a\nb", edits), (std::vector<LineSpan>{{2, 3, 2, 4}}));
}

TEST(Lines, WhatComesOutTheSameIsNoChange) {
  Edits edits;
  edits.replace(0, 1, "a", 0);
  EXPECT_EQ(lines("a\r\nb\r\n", edits), std::vector<LineSpan>());
}

TEST(Lines, WholeLinesBeforeAChangedOne) {
  Edits edits;
  edits.insert(2, "new\n", 0);
  edits.replace(2, 3, "x", 1);
  EXPECT_EQ(lines("a\nb\nc\n", edits), (std::vector<LineSpan>{{2, 3, 2, 4}}));
}

}  // namespace
}  // namespace npu::migrate
