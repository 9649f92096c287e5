// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/source.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tools/migrate/text/tree.h"

namespace npu::migrate {
namespace {

/// What the constructor says against it, "" where it takes it.
std::string refusal(const std::string& bytes) {
  try {
    const Source source("a.py", bytes);
    EXPECT_EQ(source.bytes(), bytes);
    EXPECT_EQ(source.readable().size(), bytes.size());
    return "";
  } catch (const Refusal& error) {
    return error.what();
  }
}

/// Texts of all identifiers, as the file has them.
std::vector<std::string> identifiers(const std::string& bytes) {
  const Source source("a.py", bytes);
  const Tree tree(source);
  std::vector<std::string> out;
  for (uint32_t i = 0; i < tree.size(); ++i)
    if (tree.node(i).is(Kind::k_identifier)) out.emplace_back(tree.node(i).text());
  EXPECT_EQ(tree.error_line(), 0u) << bytes;
  return out;
}

std::vector<size_t> lines(const std::string& bytes) {
  const Source source("a.py", bytes);
  std::vector<size_t> out;
  for (size_t i = 0; i <= bytes.size(); ++i) out.push_back(source.line(i));
  return out;
}

using Numbers = std::vector<size_t>;
using Names = std::vector<std::string>;

TEST(Source, RefusesWhatIsNoText) {
  EXPECT_EQ(refusal("x = 1\n"), "");
  EXPECT_EQ(refusal(""), "");
  EXPECT_NE(refusal(std::string("x = 1\0", 6)).find("byte 5 is NUL"), std::string::npos);
  EXPECT_NE(refusal(std::string("\0", 1)).find("byte 0 is NUL"), std::string::npos);
  EXPECT_NE(refusal("\xFF\xFEx").find("UTF-16"), std::string::npos);
  EXPECT_NE(refusal("\xFE\xFFx").find("UTF-16"), std::string::npos);
  EXPECT_NE(refusal("# coding: utf-16\n").find("utf-16"), std::string::npos);
  EXPECT_NE(refusal("#!/bin/sh\n# -*- coding: UTF_7 -*-\n").find("utf-7"), std::string::npos);
  EXPECT_EQ(refusal("x = 1\ny = 2\n# coding: utf-16\n"), "");  // only the first two lines say it
  EXPECT_EQ(refusal("x = 'coding: utf-16'\n"), "");            // only comments say it
}

TEST(Source, LinesByAnyNewline) {
  EXPECT_EQ(lines("a\nb"), (Numbers{1, 1, 2, 2}));
  EXPECT_EQ(lines("a\r\nb"), (Numbers{1, 1, 1, 2, 2}));
  EXPECT_EQ(lines("a\rb"), (Numbers{1, 1, 2, 2}));
  EXPECT_EQ(lines("\n\r\r\n"), (Numbers{1, 2, 3, 3, 4}));
  EXPECT_EQ(lines(""), (Numbers{1}));
  EXPECT_EQ(lines("a\f\vb"), (Numbers{1, 1, 1, 1, 1}));  // form feeds end no line
  const Source source("a.py", "a\r\nb\rc\nd");
  EXPECT_EQ(source.line_count(), 4u);
  EXPECT_EQ((Numbers{source.line_begin(1), source.line_begin(2), source.line_begin(3), source.line_begin(4)}),
            (Numbers{0, 3, 5, 7}));
}

TEST(Source, TheNewlineMostLinesHave) {
  const auto newline = [](const std::string& bytes) { return std::string(Source("a.py", bytes).newline()); };
  EXPECT_EQ(newline("a\r\nb\r\nc\n"), "\r\n");
  EXPECT_EQ(newline("a\r\nb\nc\n"), "\n");
  EXPECT_EQ(newline("a\rb\rc\n"), "\r");
  EXPECT_EQ(newline("a"), "\n");
}

TEST(Source, ParserReadsEveryNewline) {
  for (const char* newline : {"\n", "\r\n", "\r"}) {
    const std::string end = newline;
    EXPECT_EQ(identifiers("if a:" + end + "\tb" + end + end + "# c" + end + "d"), (Names{"a", "b", "d"}));
  }
  EXPECT_EQ(identifiers("a\rb\r\nc\nd"), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(identifiers("\fa\n\fb\n"), (Names{"a", "b"}));
}

TEST(Source, OtherBytesAreLetters) {
  EXPECT_EQ(identifiers("\xEF\xBB\xBFx = y"), (Names{"x", "y"}));
  EXPECT_EQ(identifiers("# -*- coding: latin-1 -*-\nna\xEFve = 1\n"), (Names{"na\xEFve"}));
  EXPECT_EQ(identifiers("# vim: set fileencoding=cp1252 :\nx = '\x80'\n"), (Names{"x"}));
  EXPECT_EQ(identifiers("x\xFF\xC0y = 1\n"), (Names{"x\xFF\xC0y"}));                              // a mistake stays one
  EXPECT_EQ(identifiers("\xC3\xA4 = '\xE2\x82\xAC' # \xF0\x9F\x98\x80\n"), (Names{"\xC3\xA4"}));  // UTF-8 as it is
}

TEST(Source, SecondBytesOfChineseMayLookLikeASCII) {
  // 0x5C is a backslash and 0x27 ends no string where they are the second byte of a character.
  EXPECT_EQ(identifiers("# coding: gbk\nx = '\xD5\x5C'\ny = 1\n"), (Names{"x", "y"}));
  EXPECT_EQ(identifiers("#!/usr/bin/python\n# coding=big5\nx = '\xA4\x5C'\n"), (Names{"x"}));
  // The same bytes as Latin-1: the backslash takes the quote, and the string goes on.
  const Source source("a.py", "# coding: latin-1\nx = '\xD5\x5C'\ny = 1\n");
  EXPECT_NE(Tree(source).error_line(), 0u);
}

TEST(Source, OverlongAndCutCharactersAreNoUtf8) {
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xC3",
                          "\xE2\x82", "\xF8\x88\x80\x80\x80"}) {
    const std::string text = std::string("a") + bad;
    const std::string readable = Source("a.py", text).readable();
    EXPECT_EQ(readable, std::string(text.size(), 'x').replace(0, 1, "a")) << testing::PrintToString(text);
  }
  for (const char* good : {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(Source("a.py", good).readable(), good);
}

TEST(Source, FilesOverTheLimitAreRefused) {
  const std::string path = testing::TempDir() + "/big.py";
  std::ofstream(path) << std::string(3 << 20, '#');
  EXPECT_EQ(read_source(path, 3 << 20).bytes().size(), size_t{3} << 20);
  try {
    read_source(path, (3 << 20) - 1);
    ADD_FAILURE() << "taken";
  } catch (const Refusal& error) {
    EXPECT_NE(std::string(error.what()).find("has 3 MB, more than"), std::string::npos) << error.what();
  }
  EXPECT_THROW(read_source(testing::TempDir(), 1 << 20), Refusal);
  EXPECT_THROW(read_source(path + ".not", 1 << 20), Refusal);
}

}  // namespace
}  // namespace npu::migrate
