// SPDX-License-Identifier: Apache-2.0
#include "ops/tuner/kernel_tuner.h"

#include <array>

#include "base/error.h"
#include "ops/call_fixture.h"
#include "ops/runner/runner.h"
#include "ops/tuner/tuner.h"
#include "ops/tuning/question.h"
#include "ops/tuning/tuning_fixture.h"

namespace npu::ops::tuning {
namespace {

enum Way : size_t { kSlow, kFast, kWrong, kAbsent, kRefusing };
constexpr std::array<std::string_view, 5> kWays{"slow", "fast", "wrong", "absent", "refusing"};
const Point kPoint("tuner_test_way", "A choice of this test.", kWays);

double told_us = 0;  // what is measured takes no time but moves the clock

/// out += self, in several ways.
struct TestWays final : Operator {
  Tensor self, out;
  void prepare() override {
    const Question question(kPoint, [&] { return fmt::format("n={}", self.count()); });
    way_ = question.answer().value_or(kSlow);
    if (way_ == kAbsent) way_ = kSlow;
    if (way_ == kRefusing) fail(Code::kNnInvalidParam, "this way refuses");
    question.took(way_);
  }
  void run() override {
    told_us += way_ == kSlow ? 300 : way_ == kFast ? 60 : 20;
    for (int64_t i = 0; i < self.count(); ++i)
      out.as<float>()[i] += way_ == kWrong ? 7.0f : self.as<float>()[i * self.strides[0]];
  }
  size_t way() const { return way_; }

 private:
  size_t way_ = kSlow;
};
NPU_OPERATOR(TestWays, "tuner_test_ways", "test", in<&TestWays::self>("self"), inout<&TestWays::out>("out"));

class KernelTuner : public WithBanks {
 protected:
  void SetUp() override {
    WithBanks::SetUp();
    use_clock([] { return told_us; });
  }
  void TearDown() override {
    use_clock(nullptr);
    end();
    WithBanks::TearDown();
  }
  std::unique_ptr<Operator> prepared(int64_t count) {
    x.assign(64, 2), y.assign(64, 0);
    auto op = create(*find_operator("tuner_test_ways"));
    op->def->field("self")->of<Tensor>(*op) = make_tensor(x.data(), DType::kFloat, {count});
    op->def->field("out")->of<Tensor>(*op) = make_tensor(y.data(), DType::kFloat, {count});
    op->prepare();
    return op;
  }
  static size_t way_of(const std::unique_ptr<Operator>& op) { return static_cast<const TestWays&>(*op).way(); }
  static void run(Operator& op) {
    const Caller caller{[](const void*, device::TaskName& name) { name.type = "TestWays", name.node = "node_1"; },
                        nullptr};
    run_on(0, op, caller);
  }
  std::string report() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().filename().string().starts_with("aoe_result_opat_")) return text_of(entry.path());
    return "";
  }

  std::vector<float> x, y;
};

TEST_F(KernelTuner, TheFastWayThatIsRightWins) {
  begin(Job::kOperators, {}, folder);
  const auto op = prepared(4);
  run(*op);
  EXPECT_EQ(y[0], 2) << "tuning works on memory of its own";
  const auto entry = entry_of(Job::kOperators, "tuner_test_way", "n=4");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->way, "fast");
  EXPECT_EQ(entry->usual, "slow");
  EXPECT_TRUE(entry->won);
  EXPECT_EQ(entry->ratio, 5);
  EXPECT_EQ(entry->note, "TestWays node_1");
  EXPECT_EQ(way_of(prepared(4)), kFast);
  EXPECT_EQ(way_of(prepared(5)), kSlow);
  end();
  const std::string text = report();
  EXPECT_NE(text.find("\"opat_tune_result\": \"tuning successful\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"repo_add_num\": 1"), std::string::npos) << text;
  EXPECT_NE(text.find("\"op_name\": \"node_1\""), std::string::npos) << text;
  EXPECT_NE(text.find("wrong gives other results than slow"), std::string::npos) << text;
}

TEST_F(KernelTuner, WhatIsKnownIsNotMeasuredAgain) {
  learn(Job::kOperators, "tuner_test_way", "n=4", winner("fast"));
  begin(Job::kOperators, {}, folder);
  run(*prepared(4)), run(*prepared(4));
  EXPECT_EQ(session()->findings().size(), 1u);
  EXPECT_EQ(session()->findings()[0].outcome, Finding::Outcome::kHit);
  end();
  EXPECT_NE(report().find("\"repo_hit_num\": 1"), std::string::npos);
  EXPECT_NE(report().find("tuning no improvement"), std::string::npos);
}

TEST_F(KernelTuner, WhatLostIsMeasuredAgainWhereThatIsAsked) {
  Entry lost = winner("wrong");
  lost.won = false;
  learn(Job::kOperators, "tuner_test_way", "n=4", lost);
  begin(Job::kOperators, {}, folder);
  run(*prepared(4));
  EXPECT_EQ(session()->findings().at(0).outcome, Finding::Outcome::kReserved);
  end();
  begin(Job::kOperators, {.again = true}, folder);
  run(*prepared(4));
  EXPECT_EQ(answer_of(Job::kOperators, "tuner_test_way", "n=4"), "fast");
}

TEST_F(KernelTuner, OnlyWhatIsNamedIsTuned) {
  begin(Job::kOperators, {.names = {"other"}, .types = {"Other"}}, folder);
  run(*prepared(4));
  EXPECT_TRUE(session()->findings().empty());
  end();
  begin(Job::kOperators, {.types = {"TestWays"}}, folder);
  run(*prepared(4));
  EXPECT_FALSE(session()->findings().empty());
}

TEST_F(KernelTuner, OneSessionAtATime) {
  begin(Job::kOperators, {}, folder);
  EXPECT_THROW(begin(Job::kGraphs, {}, folder), Error);
  EXPECT_NE(session(Job::kOperators), nullptr);
  EXPECT_EQ(session(Job::kGraphs), nullptr);
  end();
  EXPECT_EQ(session(), nullptr);
  EXPECT_THROW(begin(Job::kOperators, {}, folder / "none"), Error);
}

TEST(Scope, IsReadAsTheGuidePrintsIt) {
  const auto no_notice = [](std::string_view text) { ADD_FAILURE() << text; };
  const Scope scope = read_scope(
      R"({ "tune_ops_name":["bert/embeddings/add","loss/MatMul"], "tune_ops_type":["Add", "Mul"]
           "tune_optimization_level":"O1", "feature":["deeper_opat"] })",
      no_notice);
  EXPECT_TRUE(scope.thorough && scope.again);
  EXPECT_TRUE(scope.wants("loss/MatMul", "MatMul"));
  EXPECT_TRUE(scope.wants("x", "Mul"));
  EXPECT_FALSE(scope.wants("x", "MatMul"));
  EXPECT_TRUE(read_scope("{}", no_notice).wants("x", "y"));
}

TEST(Scope, WhatIsWrongIsNamed) {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      read_scope(text, [](std::string_view) {});
    } catch (const Error& e) {
      return e.message();
    }
    return "accepted";
  };
  EXPECT_NE(refusal("[").find("is no JSON"), std::string::npos);
  EXPECT_NE(refusal("[]").find("is no object"), std::string::npos);
  EXPECT_NE(refusal(R"({"tune_ops_name": "x"})").find("tune_ops_name"), std::string::npos);
  EXPECT_NE(refusal(R"({"tune_optimization_level": "O3"})").find("O3"), std::string::npos);
  EXPECT_NE(refusal(R"({"feature": ["more"]})").find("\"more\" in the tuning configuration is unknown"),
            std::string::npos);
  std::string told;
  read_scope(R"({"feature": ["nonhomo_split"], "other": 1})", [&](std::string_view text) { told += text; });
  EXPECT_NE(told.find("nonhomo_split has no effect"), std::string::npos);
  EXPECT_NE(told.find("other in the tuning configuration is unknown"), std::string::npos);
}

}  // namespace
}  // namespace npu::ops::tuning
