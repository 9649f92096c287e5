// SPDX-License-Identifier: Apache-2.0
// Files that nobody writes by hand: they come out in time, as they were or with sane edits.
#include <gtest/gtest.h>

#include "tools/migrate/migration/batch.h"

namespace npu::migrate {
namespace {

FileResult migrated(const std::string& text) {
  RuleBook book;
  book.read("test.yaml", "rules:\n- {id: r, what: w, why: y, call: [torch.old], do: [{callee: torch.new}]}\n");
  const Options options;
  const RuleIndex rules(book.active({}));
  FileResult result;
  Batch batch({"a.py"}, [&](const std::string& path) { return Source(path, text); }, rules, options);
  batch.run(1, [&](FileResult&& file) { result = std::move(file); });
  return result;
}

std::string times(size_t count, const std::string& text) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

/// Minutes and more where the work grows with the square of the size; a second or two where it does not.
void expect_changes(const std::string& text, const char* what) {
  const FileResult result = migrated("import torch\n" + text + "\ntorch.old()\n");
  EXPECT_TRUE(result.after.ends_with("\ntorch.new()\n")) << what;
  EXPECT_EQ(result.failure, "") << what;
}

TEST(BadInput, DeepNesting) {
  expect_changes("x = " + times(100000, "(") + "torch.a" + times(100000, ")"), "brackets");
  expect_changes("x = " + times(50000, "[") + times(50000, "]"), "lists");
  expect_changes("x = torch.a" + times(50000, " + torch.a"), "a sum");
  expect_changes("x = torch" + times(5000, ".a()"), "a chain");
  expect_changes("x = " + times(5000, "torch.f(") + "1" + times(5000, ")"), "calls in calls");
  expect_changes("x = " + times(2000, "lambda a: ") + "torch.a", "lambdas");
  std::string nested;
  for (size_t i = 0; i < 3000; ++i) nested += times(i, " ") + "if torch.a:\n";
  EXPECT_EQ(migrated(nested + times(3000, " ") + "pass\n").failure, "");  // deeper than Python goes
  nested.clear();
  for (size_t i = 0; i < 99; ++i) nested += times(i, " ") + "if torch.a:\n";
  expect_changes(nested + times(99, " ") + "pass", "if in if");
}

TEST(BadInput, ManyBindingsOfOneName) {
  expect_changes(times(10000, "x = torch.a(x)\nif x: x = torch.b(x)\n"), "in a module");
  expect_changes("def f(x):\n" + times(10000, "  if x.c: x = torch.b(x)\n"), "in a function");
  expect_changes("class C:\n def f(self):\n" + times(10000, "  self.x = torch.b(self.x)\n"), "of self");
  expect_changes("if x: pass\n" + times(10000, "elif torch.b: x = torch.b(x)\n"), "in branches");
}

TEST(BadInput, LargeFiles) {
  // 16 MB each of one long literal and of comments; lists and code make more nodes of fewer bytes.
  expect_changes("x = '" + std::string(16 << 20, 'a') + "'", "a long text");
  expect_changes(times(1 << 20, "# remark, text\n"), "comments");
  expect_changes("x = [" + times(1 << 17, "1000, 2000, 300,") + "]", "a list");
  expect_changes(times(1 << 15, "value_of_a = torch.a(value_of_a)\n\nclass Name:\n    size = 3\n\n"), "code");
}

TEST(BadInput, ManyChanges) {
  const FileResult result = migrated("import torch\n" + times(5000, "x = torch.old(torch.old())\n"));
  EXPECT_EQ(result.changes.size(), 10000u);
  EXPECT_EQ(result.after, "import torch\n" + times(5000, "x = torch.new(torch.new())\n"));
}

TEST(BadInput, NoPython) {
  for (const std::string& text : {times(100000, "("), times(3000, "\x81\xFF(: \"''"), times(2000, "if:\n\t[def\n"),
                                  std::string("\\"), std::string("'''"), std::string("\xEF\xBB\xBF")}) {
    const FileResult result = migrated(text);
    EXPECT_EQ(result.after, text);
    EXPECT_EQ(result.failure, "");
  }
  EXPECT_NE(migrated(std::string("import torch\0", 13)).failure, "");
  EXPECT_NE(migrated("\xFF\xFEi").failure, "");
}

}  // namespace
}  // namespace npu::migrate
