// SPDX-License-Identifier: Apache-2.0
// Real training steps, recorded by tests/recorded/record.py: read, verified, rewritten, verified.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/json.h"
#include "graph/dump/watched_library.h"
#include "graph/import/tensorflow/recorded_fixture.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pass.h"
#include "graph/run/executable.h"

namespace npu::graph::tensorflow {
namespace {

class Recorded : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    read_graph(recorded_file(std::string(GetParam()) + ".pb"), "outer", recorded_operators(), program_);
    name_ = step_of(program_);
    ASSERT_NE(name_, "");
    step_ = program_.functions.at(name_).get();
  }

  /// Steps on variables of their own: what the last one gave, and what it left in the variables.
  std::vector<Value> train(int steps) {
    RecordedFeed feed(GetParam());
    WatchedLibrary library(0, [&](const Node& node, std::span<const Value>) { return feed.next(node); });
    library.add(program_);
    const std::vector<Value> arguments = feed.arguments();
    std::vector<Value> out;
    for (int i = 0; i < steps; ++i) out = library.get(name_)->run(arguments);
    for (const Value& argument : arguments)
      if (auto* variable = dynamic_cast<Variable*>(argument.object.get())) out.push_back(variable->read());
    return out;
  }

  Program program_;
  std::string name_;
  const Function* step_ = nullptr;
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
    calls += call && call->kind == Kind::kCall;
    operators += node.kind != Kind::kArgument;
  }
  EXPECT_EQ(calls, 0u);
  EXPECT_GT(operators, 100u);
  Function again = step;
  run_passes(again, program_);
  EXPECT_EQ(to_text(again), to_text(step));
}

bool finite(const Value& value) {
  const Tensor& t = value.tensor;
  return t.dtype != DType::kFloat ||
         std::all_of(t.as<float>(), t.as<float>() + t.count(), [](float x) { return std::isfinite(x); });
}

TEST_P(Recorded, TrainsTheSameEachTime) {
  const std::vector<Value> one = train(3), two = train(3);
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) {
    const Tensor &a = one[i].tensor, &b = two[i].tensor;
    ASSERT_EQ(a.shape, b.shape);
    EXPECT_TRUE(finite(one[i])) << i;
    EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), static_cast<size_t>(bytes_of(a))), 0) << i;
  }
}

TEST_P(Recorded, TakesLittleMoreMemoryThanMustBeAlive) {
  RecordedFeed feed(GetParam());
  WatchedLibrary library(0, [&](const Node& node, std::span<const Value>) { return feed.next(node); });
  library.add(program_);
  library.get(name_)->run(feed.arguments());
  const auto report = Json::parse(library.report().json());
  int64_t most = 0;
  for (const auto& f : report["functions"]) {
    const auto peak = f["peak_bytes"].get<int64_t>(), bound = f["live_bytes"].get<int64_t>();
    // Slots begin at multiples of 64 bytes, which counts where there are few.
    EXPECT_LE(peak, bound + std::max<int64_t>(bound / 10, 1024)) << f["name"];
    most = std::max(most, bound);
  }
  std::printf("%s", library.report().text().c_str());
  EXPECT_GT(most, 1000);
}

TEST_P(Recorded, TrainsInSeveralThreadsOnTheSameVariables) {
  RecordedFeed feed(GetParam());
  std::mutex mutex;
  WatchedLibrary library(0, [&](const Node& node, std::span<const Value>) {
    const std::lock_guard lock(mutex);
    return feed.next(node);
  });
  library.add(program_);
  const std::vector<Value> arguments = feed.arguments();
  std::vector<int64_t> before;
  for (const Value& argument : arguments) {
    auto* variable = dynamic_cast<Variable*>(argument.object.get());
    const bool counts = variable != nullptr && variable->meta().dtype == DType::kInt64;
    before.push_back(counts ? *variable->read().tensor.as<int64_t>() : 0);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i)
        for (const Value& value : library.get(name_)->run(arguments)) EXPECT_TRUE(finite(value));
    });
  for (std::thread& thread : threads) thread.join();
  size_t counters = 0;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (auto* variable = dynamic_cast<Variable*>(arguments[i].object.get());
        variable != nullptr && variable->meta().dtype == DType::kInt64) {
      EXPECT_EQ(*variable->read().tensor.as<int64_t>(), before[i] + 20);
      ++counters;
    }
  EXPECT_EQ(counters, 2u);  // the optimizer's, and the one Keras keeps of all steps
}

INSTANTIATE_TEST_SUITE_P(Step, Recorded, testing::ValuesIn(kRecorded),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace npu::graph::tensorflow
