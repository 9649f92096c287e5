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

std::string applied(const std::string& text, Edits edits) {
  edits.settle();
  return edits.applied(Source("a.py", text));
}

using Numbers = std::vector<size_t>;

TEST(Edits, NoneChangeNothing) {
  for (const char* text : {"", "a", "\r\n\t\f", "\xEF\xBB\xBF\xFF\x80"}) EXPECT_EQ(applied(text, Edits()), text);
}

TEST(Edits, AtBothEnds) {
  Edits edits;
  edits.insert(0, "<", 0);
  edits.append(3, ">", 1);
  EXPECT_EQ(applied("abc", edits), "<abc>");
}

TEST(Edits, InsertionsAtOnePlaceInTheirOrder) {
  Edits edits;
  for (const char* each : {"1", "2", "3"}) edits.insert(1, each, 0);
  EXPECT_EQ(applied("ab", edits), "a123b");
}

TEST(Edits, WrappingsNest) {
  Edits edits;
  edits.wrap(0, 3, "f(", ")", 0);  // the outer one first
  edits.wrap(0, 3, "g[", "]", 1);
  edits.wrap(0, 1, "h{", "}", 2);
  edits.wrap(1, 3, "<", ">", 3);
  EXPECT_EQ(applied("abc", edits), "f(g[h{a}<bc>])");
}

TEST(Edits, WhatClosesStandsBeforeWhatBegins) {
  Edits edits;
  edits.insert(1, "i", 0);
  edits.append(1, "a", 1);
  edits.replace(1, 2, "B", 2);
  EXPECT_EQ(applied("ab", edits), "aaiB");
}

TEST(Edits, OfTwoThatCrossTheLaterGivesWay) {
  Edits edits;
  edits.replace(0, 4, "X", 0);
  edits.replace(2, 6, "Y", 1);
  edits.insert(7, "z", 1);  // of the same change: it goes too
  EXPECT_EQ(edits.settle(), Numbers{1});
  EXPECT_EQ(edits.applied(Source("a.py", "abcdefgh")), "Xefgh");
}

TEST(Edits, TheLaterGivesWayWhereverItStands) {
  Edits edits;
  edits.replace(2, 6, "Y", 0);
  edits.replace(0, 4, "X", 1);
  EXPECT_EQ(edits.settle(), Numbers{1});
  EXPECT_EQ(edits.applied(Source("a.py", "abcdefgh")), "abYgh");
}

TEST(Edits, NeighboursDoNotCross) {
  Edits edits;
  edits.replace(0, 2, "X", 0);
  edits.replace(2, 4, "Y", 1);
  edits.insert(2, "i", 2);
  EXPECT_EQ(edits.settle(), Numbers());
  EXPECT_EQ(edits.applied(Source("a.py", "abcd")), "XiY");
}

TEST(Edits, AWideOneDropsAllThatCameLaterInside) {
  Edits edits;
  edits.replace(0, 8, "W", 0);
  for (size_t i = 1; i < 4; ++i) edits.replace(2 * i, 2 * i + 1, "x", i);
  EXPECT_EQ(edits.settle(), (Numbers{1, 2, 3}));
}

TEST(Edits, ADroppedOneFreesItsPlace) {
  Edits edits;
  edits.replace(0, 3, "A", 0);
  edits.replace(2, 5, "B", 1);  // crosses 0: gives way
  edits.replace(4, 6, "C", 2);  // crossed only what is gone
  EXPECT_EQ(edits.settle(), Numbers{1});
  EXPECT_EQ(edits.applied(Source("a.py", "abcdef")), "AdC");
}

TEST(Edits, DropTakesAllOfAChange) {
  Edits edits;
  edits.wrap(0, 1, "(", ")", 0);
  edits.insert(1, "x", 1);
  edits.drop(0);
  EXPECT_EQ(applied("ab", edits), "axb");
  edits.drop(1);
  EXPECT_TRUE(edits.empty());
}

TEST(Edits, TellsWhatIsInsertedAndReplaced) {
  Edits edits;
  edits.insert(1, "x", 0);
  edits.replace(3, 6, "y", 0);
  EXPECT_TRUE(edits.inserted(1));
  EXPECT_FALSE(edits.inserted(3));
  EXPECT_TRUE(edits.replaced(3, 6));
  EXPECT_TRUE(edits.replaced(4, 5));
  EXPECT_FALSE(edits.replaced(2, 4));
  EXPECT_FALSE(edits.replaced(1, 1));
}

TEST(Edits, APartOfTheText) {
  Edits edits;
  edits.insert(2, "mine ", 0);
  edits.insert(2, "other ", 1);
  edits.replace(3, 4, "X", 1);
  edits.settle();
  const Source source("a.py", "abcdef");
  EXPECT_EQ(edits.applied(source, 2, 5, 0), "mine cXe");  // what others put before it is not its own
  EXPECT_EQ(edits.applied(source, 0, 2, 1), "abother ");
}

TEST(Edits, ManyAreSettledInOneRound) {
  Edits edits;
  std::string want;
  for (size_t i = 0; i < 100000; ++i) edits.replace(2 * i, 2 * i + 1, "xy", i), want += "xyb";
  std::string text;
  for (size_t i = 0; i < 100000; ++i) text += "ab";
  EXPECT_EQ(applied(text, edits), want);
}

}  // namespace
}  // namespace npu::migrate
