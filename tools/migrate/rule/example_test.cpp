// SPDX-License-Identifier: Apache-2.0
// Every example of every rule: the text comes out as it says, and once more nothing changes.
#include <gtest/gtest.h>

#include "tools/migrate/rule/batch.h"

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

std::string migrated(const std::string& text, const Case& each) {
  Options options;
  options.features = each.rule->when;
  options.features.insert(each.example.features.begin(), each.example.features.end());
  const RuleIndex rules(book().active(options.features));
  FileResult result;
  Batch batch(
      {each.example.path.empty() ? "train.py" : each.example.path},
      [&](const std::string& path) { return Source(path, text); }, rules, options);
  batch.run(1, [&](FileResult&& file) { result = std::move(file); });
  EXPECT_EQ(result.failure, "");
  return result.after;
}

class EveryExample : public testing::TestWithParam<Case> {};

TEST_P(EveryExample, ComesOutAsItSays) {
  const std::string after = migrated(GetParam().example.before, GetParam());
  EXPECT_EQ(after, GetParam().example.after);
  EXPECT_EQ(migrated(after, GetParam()), after) << "a second run changes it again";
}

std::string named(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.rule->id + "_" + std::to_string(info.param.example.line);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryExample, testing::ValuesIn(cases()), named);

}  // namespace
}  // namespace npu::migrate
