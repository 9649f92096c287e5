// SPDX-License-Identifier: Apache-2.0
// Every example of every rule: the text comes out as it says, and once more nothing changes.
#include <gtest/gtest.h>

#include <algorithm>

#include "tools/migrate/migration/batch.h"
#include "tools/migrate/text/tree_fixture.h"

namespace npu::migrate {
namespace {

struct Case {
  const Rule* rule;
  Example example;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.rule->id << " at line " << each.example.line; }

const RuleBook& book() {
  static const RuleBook made = RuleBook::built_in();
  return made;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Rule& rule : book().all())
    for (const Example& example : rule.examples) out.push_back({&rule, example});
  return out;
}

FileResult migrated(const std::string& text, const Case& each) {
  Options options;
  options.main = each.example.main;
  options.features = each.rule->when;
  options.features.insert(each.example.features.begin(), each.example.features.end());
  const RuleIndex rules(book().active(options.features));
  FileResult result;
  Batch batch(
      {each.example.path.empty() ? "train.py" : each.example.path},
      [&](const std::string& path) { return Source(path, text); }, rules, options);
  batch.run(1, [&](FileResult&& file) { result = std::move(file); });
  EXPECT_EQ(result.failure, "");
  return result;
}

/// Rows of the rule itself: changes when `notes` is false, else what is only listed.
std::vector<Change> rows(const FileResult& result, const Rule& rule, bool notes) {
  std::vector<Change> out;
  for (const Change& row : result.changes)
    if (row.rule == rule.id && row.report.empty() != notes) out.push_back(row);
  return out;
}

class EveryExample : public testing::TestWithParam<Case> {};

TEST_P(EveryExample, ComesOutAsItSays) {
  const Rule& rule = *GetParam().rule;
  const Example& example = GetParam().example;
  const FileResult result = migrated(example.before, GetParam());
  EXPECT_EQ(result.after, example.after);
  EXPECT_EQ(migrated(result.after, GetParam()).after, result.after) << "a second run changes it again";
  EXPECT_TRUE(example.before == example.after || !rows(result, rule, false).empty()) << "another rule did it";
  const std::vector<Change> notes = rows(result, rule, true);
  if (example.notes || !rule.report.empty()) {
    EXPECT_EQ(notes.size(), static_cast<size_t>(example.notes.value_or(0)));
  }
  if (example.says.empty()) return;
  EXPECT_TRUE(std::ranges::any_of(result.changes, [&](const Change& row) {
    return row.rule == rule.id && row.message.find(example.says) != row.message.npos;
  })) << "no row of the rule says so";
}

std::string named(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.rule->id + "_" + std::to_string(info.param.example.line);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

TEST(PackedTree, HoldsEveryExample) {
  for (const Rule& rule : book().all())
    for (const Example& example : rule.examples) expect_packs(example.before);
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryExample, testing::ValuesIn(cases()), named);

}  // namespace
}  // namespace npu::migrate
