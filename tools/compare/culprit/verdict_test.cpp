// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/culprit/verdict.h"

#include <cmath>

#include "tools/compare/culprit/sample_run_fixture.h"

namespace npu::compare {
namespace {

using Causes = std::vector<size_t>;
using Change = std::function<float(float)>;

/// x -> 0 scale -> 1 shift -> 2 square, on both sides; `w` is a constant that the first one reads.
class Verdicts : public SampleRuns {
 protected:
  struct Fault {
    int at = -1;
    Change change;
    int32_t type = kFloat;
    float behind = 1;  // what comes behind it is as much larger, which its inputs' error does not explain
  };

  Run chain(const Fault& fault, float weight = 1.5f) {
    Run run;
    const Values w(64, weight);
    const auto made = [&](int at, Values values) {
      if (fault.at < 0 || fault.at > at) return values;
      return changed(values, fault.at == at ? fault.change : times(fault.behind));
    };
    const auto type = [&](int at) { return fault.at == at ? fault.type : kFloat; };
    const Values scaled = made(0, changed(some(64), [&](float v) { return v * weight; }));
    const Values shifted = made(1, changed(scaled, [](float v) { return v + 0.25f; }));
    const Values squared = made(2, changed(shifted, [](float v) { return v * v; }));
    run.add(op("scale", "Mul", {port("input 0", some(64)), port("input 1", w, kFloat, "w")},
               port("output 0", scaled, type(0))));
    run.add(op("shift", "Add", {port("input 0", scaled, type(0), "scale")}, port("output 0", shifted, type(1))));
    run.add(op("square", "Square", {port("input 0", shifted, type(1), "shift")}, port("output 0", squared, type(2))));
    Operator constant;
    constant.name = "w", constant.type = "Const", constant.outputs = {port("output 0", w)};
    run.add(std::move(constant));
    return run;
  }
  Verdict judged(const Run& mine) {
    golden_ = chain({});
    return judge(mine, golden_, pair_runs(mine, golden_));
  }
  static Change times(float factor) {
    return [factor](float v) { return v * factor; };
  }
  Run golden_;
};

TEST_F(Verdicts, EqualRunsHaveNoCause) {
  const Verdict verdict = judged(chain({}));
  EXPECT_TRUE(verdict.causes.empty());
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(verdict.findings[i].standing, Standing::kAgrees) << i;
}

TEST_F(Verdicts, TheFirstIsTheCauseAndWhatReadsItAConsequence) {
  for (int at = 0; at < 3; ++at) {
    const Verdict verdict = judged(chain({at, times(1.03f), kFloat, 100}));
    EXPECT_EQ(verdict.causes, Causes{static_cast<size_t>(at)});
    EXPECT_EQ(verdict.consequences, static_cast<size_t>(2 - at)) << at;
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(verdict.findings[static_cast<size_t>(i)].standing, i < at    ? Standing::kAgrees
                                                                   : i == at ? Standing::kDiffers
                                                                             : Standing::kConsequence)
          << at << " " << i;
  }
}

TEST_F(Verdicts, WhatTheErrorOfItsInputsExplainsAgrees) {
  const Verdict verdict = judged(chain({0, times(1.03f)}));
  EXPECT_EQ(verdict.causes, Causes{0});
  EXPECT_EQ(verdict.consequences, 0u);
}

TEST_F(Verdicts, RoundingsAreNoCause) {
  for (int at = 0; at < 3; ++at) EXPECT_TRUE(judged(chain({at, times(1 + 0x1p-22f)})).causes.empty()) << at;
}

TEST_F(Verdicts, OneElementIsEnough) {
  size_t seen = 0;
  const Run run = chain({1, [&](float v) { return ++seen == 41 ? v + 0.01f : v; }});
  const Verdict verdict = judged(run);
  ASSERT_EQ(verdict.causes, Causes{1});
  EXPECT_EQ(verdict.findings[1].seen()->worst, 40u);
  EXPECT_GT(verdict.findings[1].severity(), 100);
}

TEST_F(Verdicts, WhatIsNotFiniteIsInfinitelySevere) {
  const Verdict verdict = judged(chain({1, [](float v) { return v > 1 ? NAN : v; }}));
  ASSERT_EQ(verdict.causes, Causes{1});
  EXPECT_TRUE(std::isinf(verdict.findings[1].severity()));
  EXPECT_GT(verdict.findings[1].seen()->not_finite_mine, 0u);
}

TEST_F(Verdicts, AnotherConstantIsReadAndNotComputed) {
  const Verdict verdict = judged(chain({}, 1.6f));
  ASSERT_EQ(verdict.causes, Causes{0});
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.standing, Standing::kReadsOther);
  EXPECT_EQ(finding.worst, 1u);
}

TEST_F(Verdicts, OneThatComputesInACoarserTypeIsNamed) {
  for (const int32_t type : {kHalf, kBFloat16}) {
    const Verdict verdict = judged(chain({1, times(1), type}));
    ASSERT_EQ(verdict.causes, Causes{1}) << type;
    EXPECT_TRUE(verdict.findings[1].coarser);
  }
}

TEST_F(Verdicts, ButNotWhereTheRunWasAskedFor) {
  Run mine, golden;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const Values values = some(64, 0.3f + static_cast<float>(i));
    mine.add(op(name, "MatMul", {port("input 0", values)}, port("output 0", values, kHalf)));
    golden.add(op(name, "MatMul", {port("input 0", values)}, port("output 0", values)));
  }
  EXPECT_TRUE(judge(mine, golden, pair_runs(mine, golden)).causes.empty());
}

TEST_F(Verdicts, WholeNumbersAreEqualOrNot) {
  Run mine, golden;
  Values counts = some(64, 40);
  golden.add(op("count", "Count", {}, port("output 0", counts, kWhole)));
  counts[9] += 1;
  mine.add(op("count", "Count", {}, port("output 0", counts, kWhole)));
  EXPECT_EQ(judge(mine, golden, pair_runs(mine, golden)).causes, Causes{0});
}

}  // namespace
}  // namespace npu::compare
