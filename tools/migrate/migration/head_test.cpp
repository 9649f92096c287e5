// SPDX-License-Identifier: Apache-2.0
// Where the lines go that a file newly needs, and that nothing else of the file changes.
#include <gtest/gtest.h>

#include "tools/migrate/migration/rule_fixture.h"

namespace npu::migrate {
namespace {

const char* const kRules =
    "- {id: r, what: w, why: y, call: [torch.old], do: [{callee: torch.new}], imports: [import new_one]}\n";

struct Case {
  const char* name;
  std::string before, after;  // of the head; the use follows
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class NewImport : public testing::TestWithParam<Case> {};

TEST_P(NewImport, StandsAtTheHead) {
  const auto& [name, before, after] = GetParam();
  const std::string once = migrated(kRules, before + "torch.old()\n").after;
  EXPECT_EQ(once, after + "torch.new()\n");
  EXPECT_EQ(migrated(kRules, once).after, once);
}

const Case kCases[] = {
    {"at_the_first_import", "import torch\n", "import new_one\nimport torch\n"},
    {"behind_a_docstring", "'''Says.'''\nimport torch\n", "'''Says.'''\nimport new_one\nimport torch\n"},
    {"behind_a_long_docstring", "\"\"\"a\n\nb\"\"\"\n\nimport torch\n",
     "\"\"\"a\n\nb\"\"\"\n\nimport new_one\nimport torch\n"},
    {"behind_the_future", "from __future__ import division\nfrom __future__ import annotations\nimport torch\n",
     "from __future__ import division\nfrom __future__ import annotations\nimport new_one\nimport torch\n"},
    {"behind_docstring_and_future", "'''a'''\nfrom __future__ import division\nimport torch\n",
     "'''a'''\nfrom __future__ import division\nimport new_one\nimport torch\n"},
    {"behind_shebang_and_coding", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport torch\n",
     "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport new_one\nimport torch\n"},
    {"behind_a_licence", "# Copyright\n#\n# Licence\n\nimport torch\n",
     "# Copyright\n#\n# Licence\n\nimport new_one\nimport torch\n"},
    {"before_an_import_with_a_comment", "import torch  # the framework\n",
     "import new_one\nimport torch  # the framework\n"},
    {"past_a_constant", "DEBUG = 1\nimport torch\n", "DEBUG = 1\nimport new_one\nimport torch\n"},
    {"windows_lines", "# a\r\nimport torch\r\n", "# a\r\nimport new_one\r\nimport torch\r\n"},
    {"old_lines", "# a\rimport torch\r", "# a\rimport new_one\rimport torch\r"},
    {"a_mark", "\xEF\xBB\xBFimport torch\n", "\xEF\xBB\xBFimport new_one\nimport torch\n"},
    {"a_form_feed", "import os\n\fimport torch\n", "import new_one\nimport os\n\fimport torch\n"},
    {"latin_letters", "# coding: latin-1\n# na\xEFve\nimport torch\n",
     "# coding: latin-1\n# na\xEFve\nimport new_one\nimport torch\n"},
    {"import_in_a_try", "try:\n    import torch\nexcept ImportError:\n    torch = None\n",
     "import new_one\ntry:\n    import torch\nexcept ImportError:\n    torch = None\n"},
    {"there_already", "import torch\nimport new_one\n", "import torch\nimport new_one\n"},
    {"there_in_a_list", "import os, new_one, torch\n", "import os, new_one, torch\n"},
    {"two_on_a_line", "import os; import torch\n", "import new_one\nimport os; import torch\n"},
};
INSTANTIATE_TEST_SUITE_P(, NewImport, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

TEST(Head, NoLastNewline) {
  EXPECT_EQ(migrated(kRules, "import torch\ntorch.old()").after, "import new_one\nimport torch\ntorch.new()");
}

TEST(Head, OneLineForManyUses) {
  const FileResult result = migrated(kRules, "import torch\ntorch.old()\ntorch.old(torch.old())\n");
  EXPECT_EQ(result.after, "import new_one\nimport torch\ntorch.new()\ntorch.new(torch.new())\n");
  EXPECT_EQ(result.changes.size(), 4u);
}

TEST(Head, NothingWhereTheNameMeansSomethingElse) {
  const std::string text = "import torch\nnew_one = 3\ntorch.old()\n";
  const FileResult result = migrated(kRules, text);
  EXPECT_EQ(result.after, text);
  ASSERT_EQ(result.changes.size(), 1u);
  EXPECT_EQ(result.changes[0].report, "manual");
  EXPECT_NE(result.changes[0].message.find("gives the name `new_one` to something else"), std::string::npos);
}

TEST(Head, LinesFollowTheImports) {
  const std::string rules =
      "- {id: r, what: w, why: y, call: [torch.old], do: [{callee: torch.new}], imports: [import new_one], "
      "lines: [new_one.start()]}\n";
  EXPECT_EQ(migrated(rules, "import torch\ntorch.old()\n").after,
            "import new_one\nnew_one.start()\nimport torch\ntorch.new()\n");
}

}  // namespace
}  // namespace npu::migrate
