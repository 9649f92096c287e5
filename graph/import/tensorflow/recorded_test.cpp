// SPDX-License-Identifier: Apache-2.0
// Real training steps, recorded by tests/recorded/record.py: read, verified, rewritten, verified.
#include <gtest/gtest.h>

#include <fstream>

#include "graph/control_flow.h"
#include "graph/dump.h"
#include "graph/import/tensorflow/reader.h"
#include "graph/passes/pass.h"
#include "graph/verify.h"

namespace npu::graph::tensorflow {
namespace {

std::string contents(const std::string& name) {
  std::ifstream file("tests/recorded/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name << ": run the test in the root of the repository";
  return {std::istreambuf_iterator<char>(file), {}};
}

class Recorded : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    static const std::string list = contents("operators.pb");
    static const Catalogue catalogue{Bytes(list)};
    read_graph(contents(std::string(GetParam()) + ".pb"), "outer", catalogue, program_);
    for (const auto& [name, function] : program_.functions)
      if (name.starts_with("__inference_train_function")) step_ = function.get();
    ASSERT_NE(step_, nullptr);
  }
  Program program_;
  Function* step_ = nullptr;
};

TEST_P(Recorded, HoldsTogether) {
  verify(program_);
  EXPECT_GT(to_text(program_).size(), 10000u);
}

TEST_P(Recorded, PassesShrinkTheStep) {
  for (const auto& [name, function] : program_.functions) {
    Function copy = *function;
    run_passes(copy, program_);
  }
  Function step = *step_;
  run_passes(step, program_);
  size_t calls = 0, operators = 0;
  for (const Node& node : step.nodes) {
    const std::optional<Call> call = as_call(node);
    calls += call && call->kind == CallKind::kCall;
    operators += node.op != kind::kArgument;
  }
  EXPECT_EQ(calls, 0u);
  EXPECT_GT(operators, 100u);
  Function again = step;
  run_passes(again, program_);
  EXPECT_EQ(to_text(again), to_text(step));
}

INSTANTIATE_TEST_SUITE_P(Step, Recorded, testing::Values("cnn_adam", "lstm_sgd", "attention_rmsprop"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace npu::graph::tensorflow
