// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

namespace npu {
namespace {

// The pool takes its size at its first use; four threads make the helpers take part on any machine.
const int kSized = setenv("ANYNPU_THREADS", "4", 0);

TEST(ThreadPool, EveryPartRunsOnce) {
  ASSERT_EQ(kSized, 0);
  for (const int64_t parts : {0, 1, 2, 3, 17, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(parts));
    parallel_parts(parts, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
    for (const auto& n : seen) ASSERT_EQ(n, 1);
  }
}

TEST(ThreadPool, RangesCoverTheCountWithoutOverlap) {
  for (const int64_t count : {0, 1, 99, 100, 101, 1234}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
    parallel_for(count, 100, [&](int64_t begin, int64_t end) {
      ASSERT_LE(end - begin, 100);
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    for (const auto& n : seen) ASSERT_EQ(n, 1);
  }
}

TEST(ThreadPool, NestedCallsFinish) {
  std::atomic<int> total{0};
  parallel_parts(8,
                 [&](int64_t) { parallel_parts(8, [&](int64_t) { parallel_parts(4, [&](int64_t) { ++total; }); }); });
  EXPECT_EQ(total, 8 * 8 * 4);
}

TEST(ThreadPool, ConcurrentCallersDoNotMixTheirParts) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int64_t caller = 1; caller <= 8; ++caller)
    callers.emplace_back([&wrong, caller] {
      for (int round = 0; round < 200; ++round) {
        std::vector<int64_t> out(64);
        parallel_parts(64, [&](int64_t i) { out[static_cast<size_t>(i)] = caller * i; });
        wrong += std::accumulate(out.begin(), out.end(), int64_t{0}) != caller * 64 * 63 / 2;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, WhatAPartWroteIsSeenByTheCaller) {
  std::vector<int> plain(10000);
  parallel_parts(10000, [&](int64_t i) { plain[static_cast<size_t>(i)] = static_cast<int>(i); });
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(plain[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace npu
