// SPDX-License-Identifier: Apache-2.0
#include "ops/tuning/question.h"

#include <array>

#include "ops/tuning/tuning_fixture.h"

namespace npu::ops::tuning {
namespace {

constexpr std::array<std::string_view, 3> kWays{"first", "second", "third"};
const Point kPoint("question_test_way", "A choice of this test.", kWays);

class Questions : public WithBanks {
 protected:
  /// The way that planning takes, the usual one being the first; the third does not apply.
  static size_t take(const std::string& key) {
    const Question question(kPoint, [&] { return key; });
    size_t way = question.answer().value_or(0);
    if (way == 2) way = 0;
    question.took(way);
    return way;
  }
};

TEST_F(Questions, WithoutABankKeysAreNotEvenMade) {
  take("any");  // looks for a bank
  int made = 0;
  const Question question(kPoint, [&] { return ++made, std::string(); });
  EXPECT_EQ(made, 0);
  EXPECT_EQ(question.answer(), std::nullopt);
}

TEST_F(Questions, ABankAnswersForItsKey) {
  learn(Job::kOperators, "question_test_way", "n=1", winner("second"));
  use_bank_folder(folder);
  EXPECT_EQ(take("n=1"), 1u);
  EXPECT_EQ(take("n=2"), 0u);
}

TEST_F(Questions, AWayThatIsNotThereAnyMoreIsNoAnswer) {
  learn(Job::kOperators, "question_test_way", "n=1", winner("fourth"));
  EXPECT_EQ(take("n=1"), 0u);
}

TEST_F(Questions, ATrialSeesWhatIsAskedAndWhatWasTaken) {
  const Trial trial;
  take("n=1"), take("n=2");
  ASSERT_EQ(trial.asked().size(), 2u);
  EXPECT_EQ(trial.asked()[1].point, &kPoint);
  EXPECT_EQ(trial.asked()[1].key, "n=2");
  EXPECT_EQ(trial.asked()[1].way, std::optional<size_t>(0));
}

TEST_F(Questions, ATrialAnswersBeforeTheBank) {
  learn(Job::kOperators, "question_test_way", "n=1", winner("second"));
  {
    Trial trial;
    EXPECT_EQ(take("n=1"), 1u);
    trial.answer(kPoint, "n=2", 1);
    trial.answer(kPoint, "n=1", std::nullopt);
    EXPECT_EQ(take("n=2"), 1u);
    EXPECT_EQ(take("n=1"), 0u);
  }
  EXPECT_EQ(take("n=1"), 1u);
}

TEST_F(Questions, AWayThatDoesNotApplyIsNotTheOneTaken) {
  Trial trial;
  trial.answer(kPoint, "n=1", 2);
  EXPECT_EQ(take("n=1"), 0u);
  EXPECT_EQ(trial.asked().back().way, std::optional<size_t>(0));
}

TEST_F(Questions, PointsAreFoundByName) {
  EXPECT_EQ(find_point("question_test_way"), &kPoint);
  EXPECT_EQ(find_point("no_such"), nullptr);
  EXPECT_EQ(kPoint.find("third"), std::optional<size_t>(2));
}

}  // namespace
}  // namespace npu::ops::tuning
