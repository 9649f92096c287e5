// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/row.h"

#include <gtest/gtest.h>

#include <string>

#include "acl/aclnn/assign.h"
#include "acl/aclnn/phase.h"
#include "acl/error_state.h"

namespace npu::acl {
namespace {

struct Sample final : ops::Operator {
  Tensor self, out;
  ops::Operand other;
  int64_t dim = 4;
  double eps = 0.5;
  std::string mode = "none";
  std::vector<int64_t> axes;
  void prepare() override {
    if (mode == "throw") throw std::runtime_error("the sky fell");
  }
  void run() override {}
};
NPU_OPERATOR(Sample, "door_test_sample", "test", ops::in<&Sample::self>("self"), ops::in<&Sample::other>("other"),
             ops::attr<&Sample::dim>("dim"), ops::attr<&Sample::eps>("eps"), ops::attr<&Sample::mode>("mode"),
             ops::attr<&Sample::axes>("axes"), ops::out<&Sample::out>("out"));

constexpr Parameter kSelf{"self", "tensor", Word::kTensor, Mark::kRead, false};
constexpr Parameter kOther{"other", "scalar", Word::kScalar, Mark::kRead, false};
constexpr Parameter kOut{"out", "tensor", Word::kTensor, Mark::kWritten, false};
constexpr Parameter kPlain[] = {kSelf, kOther, kOut};

std::string problem(const char* op, const char* bind, std::span<const Parameter> parameters) {
  const Row row{"aclnnSample", "test", op, bind, "", parameters};
  return resolve(row)->problem;
}

TEST(Row, EveryRowOfTheTablesResolves) {
  for (const Row* row : all_rows()) EXPECT_EQ(row->plan().problem, "") << row->name << ", family " << row->family;
}

TEST(Row, BadRowsSayWhy) {
  EXPECT_EQ(problem("door_test_sample", "", kPlain), "");
  EXPECT_EQ(problem("no_such", "", kPlain), "operator no_such is not part of this build");
  EXPECT_NE(problem("door_test_sample", "colour='red'", kPlain).find("field colour"), std::string::npos);
  EXPECT_NE(problem("door_test_sample", "self=input", kPlain).find("argument input"), std::string::npos);
  EXPECT_NE(problem("door_test_sample", "eps='much'", kPlain).find("not a number"), std::string::npos);
  EXPECT_NE(problem("door_test_sample", "", std::span(kPlain).first(2)).find("nothing fills field out"),
            std::string::npos);
  const Parameter extra[] = {kSelf, kOther, {"left", "i64", Word::kInteger, Mark::kRead, false}, kOut};
  EXPECT_NE(problem("door_test_sample", "", extra).find("left reaches no field"), std::string::npos);
  const Parameter ignored[] = {kSelf, kOther, {"left", "i64", Word::kInteger, Mark::kRead, true}, kOut};
  EXPECT_EQ(problem("door_test_sample", "", ignored), "");
  const Parameter wrong[] = {kSelf, kOther, {"dim", "str", Word::kString, Mark::kRead, false}, kOut};
  EXPECT_NE(problem("door_test_sample", "", wrong).find("does not fit field dim"), std::string::npos);
}

TEST(Row, ConstantsReachTheFields) {
  const Row row{"aclnnSample", "test", "door_test_sample", "mode='tanh x' dim='-3' axes='0,1' eps='1e-5'", "", kPlain};
  const auto plan = resolve(row);
  ASSERT_EQ(plan->problem, "");
  const auto& sample = static_cast<const Sample&>(*plan->prototype);
  EXPECT_EQ(sample.mode, "tanh x");
  EXPECT_EQ(sample.dim, -3);
  EXPECT_EQ(sample.axes, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(sample.eps, 1e-5);
}

TEST(Row, RowWithoutOperatorAnswersAtRunTime) {
  static const Row row{"aclnnSample", "test", "no_such", "", "", kPlain};
  const Argument arguments[] = {static_cast<const void*>(nullptr), static_cast<const void*>(nullptr),
                                static_cast<const void*>(nullptr)};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(phase1(row, arguments, &size, &executor), 561003);
  EXPECT_STREQ(recent_error(), "[aclnnSample] operator no_such is not part of this build");
}

TEST(Row, ForeignExceptionsEndAtTheDoor) {
  static const Row row{"aclnnSample", "test", "door_test_sample", "mode='throw'", "", kPlain};
  double two = 2;
  const int64_t shape[] = {0};
  aclTensor* t = aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, nullptr);
  aclScalar* s = aclCreateScalar(&two, ACL_DOUBLE);
  const Argument arguments[] = {t, s, t};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(phase1(row, arguments, &size, &executor), 561000);
  EXPECT_STREQ(recent_error(), "[aclnnSample] the sky fell");
  aclDestroyTensor(t);
  aclDestroyScalar(s);
}

}  // namespace
}  // namespace npu::acl
