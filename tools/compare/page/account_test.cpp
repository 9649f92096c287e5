// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/page/account.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/compare/culprit/sample_run_fixture.h"

namespace npu::compare {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// "first" and what reads it, with an element of "first" changed on my side.
class Accounts : public SampleRuns {
 protected:
  Run run(float change, int32_t type = kFloat, const std::string& name = "net/a<b") {
    Run made;
    Values values = some(8);
    const Values next = changed(values, [&](float v) { return change > 0.1f ? 100 * v : v; });
    values[5] += change;
    made.add(op(name, "MatMul", {}, port("output 0", values, type)));
    made.add(op("next", "Add", {port("input 0", values, type, name)}, port("output 0", next)));
    return made;
  }
  void judge_runs(Run mine) {
    mine_ = std::move(mine), golden_ = run(0);
    pairing_ = pair_runs(mine_, golden_), verdict_ = judge(mine_, golden_, pairing_);
  }
  Account account() const { return {mine_, golden_, pairing_, verdict_, "/a/run", "/a/golden"}; }

  Run mine_, golden_;
  Pairing pairing_;
  Verdict verdict_;
};

TEST_F(Accounts, TheAnswerStandsFirstWithItsWorstElement) {
  judge_runs(run(0.5f));
  const std::string text = text_of(account());
  EXPECT_TRUE(
      text.starts_with("run:    /a/run\ngolden: /a/golden\n"
                       "first: net/a<b (MatMul): its inputs agree, its output does not\n"
                       "    output 0: at [5] 1.6500001, golden 1.1500001; apart by 0.5 "))
      << text;
  EXPECT_TRUE(holds(text, "1 operators differ as a consequence\ncompared: 2 of 2 operators")) << text;
  EXPECT_TRUE(holds(text, " MaxAbsoluteError 0.500000;")) << text;
}

TEST_F(Accounts, ACoarserTypeIsTold) {
  judge_runs(run(0, kBFloat16));
  EXPECT_TRUE(holds(text_of(account()), "computed in bfloat16, in the golden float32\n")) << text_of(account());
}

TEST_F(Accounts, EqualRunsAreToldSo) {
  judge_runs(run(0));
  EXPECT_TRUE(holds(text_of(account()), "no difference: all that was compared is equal\n")) << text_of(account());
  judge_runs(run(0x1p-23f));
  EXPECT_TRUE(holds(text_of(account()), "no difference beyond roundings; the largest: net/a<b, "))
      << text_of(account());
}

TEST_F(Accounts, WhatHasNoPartnerAndWhatWasNotReadIsListed) {
  Run mine = run(0, kFloat, "elsewhere");
  mine.operators[0].type = "Conv2D", mine.notes = {"a file is damaged"};
  mine.operators[0].outputs[0] = port("output 0", some(7, 50));
  judge_runs(std::move(mine));
  const std::string text = text_of(account());
  EXPECT_TRUE(holds(text,
                    "compared: 1 of 2 operators that left outputs (50 %)\n"
                    "  without a partner in the golden: elsewhere\n"
                    "  in the golden alone: net/a<b\n"))
      << text;
  EXPECT_TRUE(holds(text, "  not read: a file is damaged\n")) << text;
}

TEST_F(Accounts, TheTableHasALineForEachOutput) {
  judge_runs(run(0.5f));
  const std::string table = table_of(account());
  EXPECT_EQ(std::ranges::count(table, '\n'), 3);
  EXPECT_TRUE(holds(table, "0,net/a<b,MatMul,")) << table;
  EXPECT_TRUE(holds(table, ",differs,")) << table;
  EXPECT_TRUE(holds(table, ",consequence,")) << table;
}

TEST_F(Accounts, ThePageShowsNamesAsText) {
  judge_runs(run(0.5f));
  const std::string page = page_of(account());
  EXPECT_TRUE(holds(page, "first: net/a&lt;b (MatMul)")) << page;
  EXPECT_FALSE(holds(page, "a<b")) << page;
}

}  // namespace
}  // namespace npu::compare
