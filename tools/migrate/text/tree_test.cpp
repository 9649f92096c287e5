// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/text/tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tools/migrate/text/tree_fixture.h"

namespace npu::migrate {
namespace {

using enum Kind;

std::string times(size_t count, const std::string& text) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

/// How many nodes of a kind there are.
size_t count(const Tree& tree, Kind kind) {
  size_t out = 0;
  for (uint32_t i = 0; i < tree.size(); ++i) out += tree.node(i).is(kind);
  return out;
}

TEST(PackedTree, ComesOutAsItWentIn) {
  for (const char* text :
       {"", "\n", "# only\n", "x", "\n\n  x = 1\n", "if x:\n  pass\n\n\ny\n", "f(a, b=1, *c)\n",
        "def f(a):\n  '''t'''\n  return (a,\n    b)", "x = = 1\n", "((", "print 'two', 2\n",
        "\xEF\xBB\xBFimport torch\r\nx = torch\r\n", "class C:\n\tdef f(self): return self.x[1:2]\n"})
    expect_packs(text);
  expect_packs(times(300, "(") + times(300, ")"));
  expect_packs("x = '" + times(70000, "long ") + "'\n" + times(40000, " \n") + "y = 1\n");  // numbers of three bytes
}

TEST(PackedTree, IsNotTakenForAnotherText) {
  const Source before("a.py", "x = 1\n"), after("a.py", "x(1)\n\n"), longer("a.py", "x = 1\n\n");
  const Tree tree(before);
  const PackedTree packed = tree.packed();
  EXPECT_TRUE(packed.made_of(before));
  EXPECT_FALSE(packed.made_of(after));
  EXPECT_FALSE(packed.made_of(longer));
  EXPECT_EQ(told(Tree(after, &packed)), told(Tree(after)));
}

TEST(PackedTree, TakesLessThanTheText) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += fmt::format("value_{0} = some_function(argument_{0}, other=[{0}, None])\n", i);
  const Source source("a.py", text);
  const Tree tree(source);
  EXPECT_LT(tree.packed().bytes(), tree.size() * 4.5);
}

TEST(Tree, ParentsChildrenAndFields) {
  const Source source("a.py", "x = f(1, # a\n  key=g)\n");
  const Tree tree(source);
  EXPECT_FALSE(tree.root().parent());
  const Node assignment = tree.root().named().at(0).named().at(0);
  ASSERT_TRUE(assignment.is(k_assignment));
  EXPECT_EQ(assignment.child(Field::k_left).text(), "x");
  const Node call = assignment.child(Field::k_right);
  ASSERT_TRUE(call.is(k_call));
  EXPECT_EQ(call.parent(), assignment);
  EXPECT_EQ(call.line(), 1u);
  EXPECT_EQ(call.last_line(), 2u);
  const Node list = call.child(Field::k_arguments);
  std::vector<std::string> texts, all;
  for (const Node each : list.named()) texts.emplace_back(each.text());
  for (const Node each : list.children()) all.emplace_back(each.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"1", "key=g"}));  // a comment is no argument
  EXPECT_EQ(all, (std::vector<std::string>{"(", "1", ",", "# a", "key=g", ")"}));
  EXPECT_EQ(list.above(k_module), tree.root());
  EXPECT_FALSE(list.above(k_if_statement));
  EXPECT_FALSE(call.child(Field::k_body));
  EXPECT_TRUE(call.children(Field::k_body).empty());
}

TEST(Tree, TellsWhereNoPythonIs) {
  const auto error_line = [](const std::string& text) {
    const Source source("a.py", text);
    return Tree(source).error_line();
  };
  EXPECT_EQ(error_line("x = 1\ny = 2\n"), 0u);
  EXPECT_EQ(error_line(""), 0u);
  EXPECT_EQ(error_line("x = 1\r\ny = = 2\r\n"), 2u);
  EXPECT_EQ(error_line("x = 1\rf(1\r"), 2u);  // a bracket that is not there
  EXPECT_EQ(error_line("print 'as Python 2 has it'\nexec 'x'\n"), 0u);
}

TEST(Tree, EveryNodeLiesInItsParent) {
  for (const std::string& text :
       {std::string(), std::string("# a"), std::string("\f\n\tx\n"), times(50, "if x:\n\t[def"),
        std::string("\xEF\xBB\xBFx"), times(2000, "f("), std::string("'''")}) {
    const Source source("a.py", text);
    const Tree tree(source);
    EXPECT_TRUE(tree.root().is(k_module)) << text.substr(0, 40);
    EXPECT_EQ(tree.root().past(), tree.size());
    for (uint32_t i = 1; i < tree.size(); ++i) {
      const Node node = tree.node(i), parent = node.parent();
      ASSERT_TRUE(parent.index() < i && i < parent.past() && node.past() <= parent.past()) << text << " node " << i;
      ASSERT_TRUE(parent.begin() <= node.begin() && node.end() <= parent.end()) << text << " node " << i;
    }
  }
}

TEST(Tree, GrowsWithTheText) {
  // Bytes and nodes go up in step: nothing is stored once per level or per line of all that stands before.
  for (const char* line : {"x = f(1)\n", "if x: y = [1, 2]\n", "# c\n"}) {
    const Source one("a.py", times(1000, line)), ten("b.py", times(10000, line));
    EXPECT_LE(Tree(ten).size(), 10 * Tree(one).size());
  }
}

std::string ifs(size_t levels, const std::string& indent) {
  std::string out;
  for (size_t i = 0; i < levels; ++i) out += times(i, indent) + "if x:\n";
  return out + times(levels, indent) + "pass\n";
}

TEST(Tree, IfsInsideOneAnother) {
  for (const auto& [levels, indent] : {std::pair(99, " "), std::pair(60, "    "), std::pair(30, "\t")}) {
    const Source source("a.py", ifs(levels, indent));
    const Tree tree(source);
    EXPECT_EQ(count(tree, k_if_statement), static_cast<size_t>(levels)) << indent;
    EXPECT_EQ(tree.error_line(), 0u) << indent;
  }
  const Source deeper("a.py", ifs(4000, " "));  // which Python has no room for, either
  EXPECT_EQ(Tree(deeper).root().past(), Tree(deeper).size());
}

TEST(Tree, AHundredThousandBrackets) {
  const Source source("a.py", times(100000, "(") + "x" + times(100000, ")") + "\n");
  const Tree tree(source);
  EXPECT_EQ(count(tree, k_parenthesized_expression), 100000u);
  EXPECT_EQ(tree.node(tree.size() - 1).text(), ")");
}

}  // namespace
}  // namespace npu::migrate
