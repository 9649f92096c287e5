// SPDX-License-Identifier: Apache-2.0
#include "graph/run/deadline.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/queue/wait_limit.h"
#include "graph/graph_fixture.h"
#include "graph/ir/node_error.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph {
namespace {

struct DeadlineTest : testing::Test {
  void TearDown() override { device::set_wait_limits(-1, -1); }

  /// Neg(Reshape(x, sizes)), whose Reshape the client runs: as long as `pause_` says.
  DeadlineTest() {
    TestFunction f("f");
    const Edge x = f.argument("x"), sizes = f.argument("sizes", ValueType::tensor(DType::kInt32));
    f.result(f.node("Neg", {f.node("Reshape", {x, sizes})}));
    Program program;
    program.add(f.function());
    library_.add(program);
  }
  std::vector<Value> run() {
    const std::vector<int32_t> sizes((1 << 14) + 1, 1);  // too many to plan for
    return library_.get("f")->run({value_of<float>({2}, {1, 2}), value_of<int32_t>({(1 << 14) + 1}, sizes)});
  }
  std::string refusal() {
    try {
      run();
    } catch (const NodeError& e) {
      EXPECT_EQ(e.code(), Code::kStreamSyncTimeout);
      return e.plain();
    }
    return "done";
  }

  std::chrono::milliseconds pause_{0};
  Library library_{0, [this](const Node&, std::span<const Value> in) {
                     std::this_thread::sleep_for(pause_);
                     return std::vector<Value>{in[0]};
                   }};
};

TEST_F(DeadlineTest, ARunThatIsTooLongTellsGraphNodeAndOption) {
  pause_ = std::chrono::milliseconds(40);
  device::set_wait_limits(20, -1);
  const std::string text = refusal();
  EXPECT_NE(text.find("the stream of f on device 0 was not done within 20 ms (option stream_sync_timeout): it executed "
                      "Reshape node '"),
            std::string::npos)
      << text;
}

TEST_F(DeadlineTest, TheNextRunHasItsOwn) {
  pause_ = std::chrono::milliseconds(40);
  device::set_wait_limits(20, -1);
  EXPECT_NE(refusal(), "done");
  EXPECT_EQ(Deadline::current(), nullptr);
  pause_ = {};
  device::set_wait_limits(600'000, -1);
  EXPECT_EQ(refusal(), "done");
}

TEST_F(DeadlineTest, WithoutALimitARunMayTakeLong) {
  pause_ = std::chrono::milliseconds(40);
  device::set_wait_limits(0, 1);
  EXPECT_EQ(refusal(), "done");
}

}  // namespace
}  // namespace npu::graph
