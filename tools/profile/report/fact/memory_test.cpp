// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/fact/memory.h"

#include <gtest/gtest.h>

#include "tools/profile/report/fact/recorded_fixture.h"

namespace npu::profile {
namespace {

Recorded run_with_memory() {
  Recorded run;
  run.call("aclrtMalloc", 0, 10);
  run.trace.calls.back().number = 5;
  run.call("aclrtMallocAlign32", 20, 30);
  run.trace.calls.back().number = 5;  // they wrap
  uint64_t used = 0;
  const auto record = [&](int64_t time, uint64_t address, uint64_t bytes, bool is_free, int device = 0) {
    MemoryRecord made;
    made.start = made.end = time * 1000, made.address = address, made.bytes = bytes, made.device = device;
    made.is_free = is_free, made.call = 5;
    made.used = used = is_free ? used - bytes : used + bytes;
    run.trace.memory.push_back(made);
  };
  record(5, 0x1000, 100, false);
  record(25, 0x2000, 300, false);
  record(40, 0x1000, 100, true);
  record(50, 0x3000, 250, false);
  record(60, 0x2000, 300, true);
  record(70, 0x2000, 10, false);
  run.trace.memory.push_back(run.trace.memory[0]);
  run.trace.memory.back().device = 1;
  return run;
}

TEST(Memory, ThePeakAndWhatItWas) {
  const Peak peak = peak_of(run_with_memory().trace, 0);
  EXPECT_EQ(peak.bytes, 550u);
  EXPECT_EQ(peak.time, 50'000);
  EXPECT_EQ(peak.allocations, 4u);
  ASSERT_EQ(peak.blocks.size(), 2u);
  EXPECT_EQ(peak.blocks[0].bytes, 300u);
  EXPECT_EQ(peak.blocks[0].call, "aclrtMallocAlign32");
  EXPECT_EQ(peak.blocks[1].bytes, 250u);
  EXPECT_EQ(peak.blocks[1].call, "");
}

TEST(Memory, OfADeviceWithoutRecords) { EXPECT_EQ(peak_of(run_with_memory().trace, 2).bytes, 0u); }

}  // namespace
}  // namespace npu::profile
