// SPDX-License-Identifier: Apache-2.0
// Edits of arguments, in every way that people write calls.
#include <gtest/gtest.h>

#include "tools/migrate/migration/rule_fixture.h"
#include "tools/migrate/text/tree.h"

namespace npu::migrate {
namespace {

struct Case {
  const char* name;
  const char* action;  // of calls of torch.f
  const char* before;  // behind "torch.f"; equal to `after` where nothing is to change
  const char* after;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class ArgumentEdit : public testing::TestWithParam<Case> {};

TEST_P(ArgumentEdit, LeavesAllElse) {
  const auto& [name, action, before, after] = GetParam();
  const std::string rules = std::string("- {id: r, what: w, why: y, call: [torch.f], do: [") + action + "]}\n";
  const std::string head = "import torch\nx = torch.f";
  const FileResult result = migrated(rules, head + before + "  # end\n");
  EXPECT_EQ(result.after, head + after + "  # end\n");
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(migrated(rules, result.after).after, result.after);
}

const char* const kSet = "{set: {key: k, to: '1'}}";
const Case kSetting[] = {
    {"into_nothing", kSet, "()", "(k=1)"},
    {"into_blanks", kSet, "(  )", "(k=1  )"},
    {"behind_one", kSet, "(a)", "(a, k=1)"},
    {"behind_a_comma", kSet, "(a,)", "(a, k=1,)"},
    {"in_the_place_of_another", kSet, "(a, k=2, b=3)", "(a, k=1, b=3)"},
    {"with_blanks_around", kSet, "(a, k = (2), b=3)", "(a, k = 1, b=3)"},
    {"the_same_already", kSet, "(k=1)", "(k=1)"},
    {"behind_stars", kSet, "(*a)", "(*a, k=1)"},
    {"two_stars_may_give_it", kSet, "(a, **b)", "(a, **b)"},
    {"given_beside_two_stars", kSet, "(k=2, **b)", "(k=1, **b)"},
    {"on_a_line_of_its_own", kSet, "(\n    a,\n    b=2)", "(\n    a,\n    b=2,\n    k=1)"},
    {"on_lines_with_a_last_comma", kSet, "(\n    a,\n    b=2,\n)", "(\n    a,\n    b=2,\n    k=1,\n)"},
    {"behind_a_comment", kSet, "(\n    a,  # first\n    b  # last\n)",
     "(\n    a,  # first\n    b,\n    k=1  # last\n)"},
    {"tabs", kSet, "(\n\ta,\n\tb)", "(\n\ta,\n\tb,\n\tk=1)"},
    {"the_newline_of_most_lines", kSet, "(\r\n  a)", "(\r\n  a,\n  k=1)"},
    {"a_generator", kSet, "(y for y in z)", "(y for y in z)"},
};
INSTANTIATE_TEST_SUITE_P(Set, ArgumentEdit, testing::ValuesIn(kSetting),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

const char* const kRemove = "{remove: k}";
const Case kRemoving[] = {
    {"the_only_one", kRemove, "(k=1)", "()"},
    {"the_only_one_with_a_comma", kRemove, "(k=1,)", "()"},
    {"the_first", kRemove, "(k=1, b=2)", "(b=2)"},
    {"the_middle", kRemove, "(a, k=1, b=2)", "(a, b=2)"},
    {"the_last", kRemove, "(a, k=1)", "(a)"},
    {"the_last_with_a_comma", kRemove, "(a, k=1,)", "(a,)"},
    {"before_stars", kRemove, "(k=1, *a, **b)", "(*a, **b)"},
    {"a_value_with_commas", kRemove, "(a, k=[1, (2, 3)], b=2)", "(a, b=2)"},
    {"not_there", kRemove, "(a, b=2)", "(a, b=2)"},
    {"of_another_call", kRemove, "(a, g(k=1))", "(a, g(k=1))"},
};
INSTANTIATE_TEST_SUITE_P(Remove, ArgumentEdit, testing::ValuesIn(kRemoving),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

const char* const kWrap = "{argument: {at: 1, key: k, before: 'w(', after: ')'}}";
const Case kOther[] = {
    {"wraps_by_place", kWrap, "(a, b)", "(a, w(b))"},
    {"wraps_by_name", kWrap, "(a, k=b)", "(a, k=w(b))"},
    {"wraps_over_lines", kWrap, "(a,\n  b +\n  c)", "(a,\n  w(b +\n  c))"},
    {"wraps_nothing_behind_stars", kWrap, "(*a, b)", "(*a, b)"},
    {"wraps_once", kWrap, "(a, w(b))", "(a, w(b))"},
    {"renames", "{rename: {from: k, to: n}}", "(a, k = b)", "(a, n = b)"},
    {"renames_to_no_second", "{rename: {from: k, to: n}}", "(k=1, n=2)", "(k=1, n=2)"},
    {"keeps_one", "{keep: {at: 1}}", "(a, b, c=3)", "(b)"},
    {"keeps_a_generator", "{keep: {at: 0}}", "(y for y in z)", "(y for y in z)"},
    {"adds_a_default", "{default: {key: k, to: '1'}}", "(a)", "(a, k=1)"},
    {"leaves_what_is_given", "{default: {key: k, to: '1'}}", "(a, k=2)", "(a, k=2)"},
};
INSTANTIATE_TEST_SUITE_P(Other, ArgumentEdit, testing::ValuesIn(kOther),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

TEST(ArgumentEdits, OfOneCallCompose) {
  const std::string rules =
      "- {id: r, what: w, why: y, call: [torch.f], do: [{callee: torch.g}, {remove: a}, {rename: {from: b, to: c}}, "
      "{set: {key: d, to: '{old}.x'}}, {default: {key: e, to: '2'}}]}\n";
  EXPECT_EQ(migrated(rules, "import torch\ntorch.f(a=1, b=torch.f(b=3), d=(4,))\n").after,
            "import torch\ntorch.g(c=torch.g(c=3, d={old}.x, e=2), d=(4,).x, e=2)\n");
}

}  // namespace
}  // namespace npu::migrate
