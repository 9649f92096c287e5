// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/compare/page/html.h"

namespace npu::compare {
namespace {

/// Operators op0, op1, … each reading the one before through a view that left no file.
struct Chain {
  explicit Chain(size_t count) {
    for (size_t i = 0; i < count; ++i) add("op" + std::to_string(i), i > 0 ? "view" + std::to_string(i - 1) : "", true);
    for (size_t i = 0; i < count; ++i) add("view" + std::to_string(i), "op" + std::to_string(i), false);
  }
  void add(std::string name, std::string maker, bool ran) {
    Operator op;
    op.name = std::move(name), op.type = "Add<T>", op.ran = ran;
    op.inputs.emplace_back().maker = std::move(maker);
    run.add(std::move(op));
    verdict.findings.emplace_back();
  }
  std::string drawing() { return drawing_of({run, run, pairing, verdict, "", ""}); }

  Run run;
  Pairing pairing;
  Verdict verdict;
};

size_t count(const std::string& text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(Drawing, ShowsThoseAroundTheCause) {
  Chain chain(12);
  chain.verdict.causes = {6};
  const std::string drawing = chain.drawing();
  EXPECT_EQ(count(drawing, "<title>"), 7u);  // three before it, three behind it
  EXPECT_EQ(count(drawing, "<path"), 6u);
  EXPECT_EQ(count(drawing, "stroke=#c00"), 1u);
  EXPECT_NE(drawing.find("<a href=\"#o6\"><title>op6 (Add&lt;T&gt;): not compared"), std::string::npos) << drawing;
  EXPECT_EQ(drawing.find("op2<"), std::string::npos);
  EXPECT_EQ(drawing.find("view"), std::string::npos);
}

TEST(Drawing, IsNoLargerThanAScreen) {
  Chain chain(2);
  for (int i = 0; i < 500; ++i) chain.add("reader" + std::to_string(i), "op0", true);
  chain.verdict.causes = {0};
  EXPECT_EQ(count(chain.drawing(), "<title>"), 48u);
}

TEST(Drawing, NobodyToBlameIsNoDrawing) { EXPECT_EQ(Chain(3).drawing(), ""); }

}  // namespace
}  // namespace npu::compare
