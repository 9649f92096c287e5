// SPDX-License-Identifier: Apache-2.0
#include "graph/run/busy.h"

#include <gtest/gtest.h>

#include <thread>

#include "device/process/status_page.h"

namespace npu::graph {
namespace {

using namespace std::chrono_literals;

/// Milliseconds that device 1 counts while `run` does.
template <class F>
uint64_t counted(F&& run) {
  const uint64_t before = device::counters(1).busy_ns;
  run();
  return (device::counters(1).busy_ns - before) / 1'000'000;
}

TEST(Busy, AGraphCountsOnceHoweverDeep) {
  const uint64_t time = counted([] {
    const Busy outer(1);
    const Busy inner(1);
    std::this_thread::sleep_for(20ms);
  });
  EXPECT_GE(time, 20u);
  const uint64_t again = counted([] {
    const Busy outer(1);
    for (int i = 0; i < 10; ++i) const Busy inner(1);
  });
  EXPECT_LT(again, 20u);
}

TEST(Busy, WhatTheHostComputesDoesNotCount) {
  const uint64_t time = counted([] {
    const Busy busy(1);
    const Busy::Pause pause;
    std::this_thread::sleep_for(50ms);
  });
  EXPECT_LT(time, 50u);
  EXPECT_EQ(counted([] { const Busy::Pause outside; }), 0u);
}

TEST(Busy, AGraphThatTheHostRunsMeanwhileCounts) {
  EXPECT_GE(counted([] {
              const Busy busy(1);
              const Busy::Pause pause;
              const Busy again(1);
              std::this_thread::sleep_for(20ms);
            }),
            20u);
}

}  // namespace
}  // namespace npu::graph
