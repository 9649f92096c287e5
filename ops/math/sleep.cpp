// SPDX-License-Identifier: Apache-2.0
// sleep: nothing for a while. Work behind it on the stream waits, as tests of streams and events want it.
#include <chrono>
#include <thread>

#include "ops/operator.h"

namespace npu::ops {
namespace {

struct Sleep final : Operator {
  std::vector<int64_t> cycles;

  void prepare() override {
    require(cycles.size() == 1 && cycles[0] > 0, "cycles has {} numbers; give one positive number", cycles.size());
  }
  // A cycle is a nanosecond: about what it is on the chips.
  void run() override { std::this_thread::sleep_for(std::chrono::nanoseconds(cycles[0])); }
  /// Never in the thread of the caller, who does not want to sleep.
  int64_t cost() const override { return std::max<int64_t>(cycles[0], int64_t{1} << 20); }
};

NPU_OPERATOR(Sleep, "sleep", "math", attr<&Sleep::cycles>("cycles"));

}  // namespace
}  // namespace npu::ops
