// SPDX-License-Identifier: Apache-2.0
#include "base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "base/thread_pool.h"

namespace npu {
namespace {

TEST(Cores, RanksThatNobodyHasBoundDivideThem) {
  EXPECT_EQ(detail::core_share(8, 8, 0), 8u);
  EXPECT_EQ(detail::core_share(8, 8, 1), 8u);
  EXPECT_EQ(detail::core_share(8, 8, 3), 2u);
  EXPECT_EQ(detail::core_share(2, 2, 4), 1u);
}

TEST(Cores, ARankWithCoresOfItsOwnTakesThemAll) { EXPECT_EQ(detail::core_share(4, 8, 2), 4u); }

// In a process of its own, for the pool takes its size once.
TEST(CoresDeathTest, ThePoolTakesTheShare) {
  cpu_set_t first;
  ASSERT_EQ(sched_getaffinity(1, sizeof(first), &first), 0);
  if (usable_cores() < static_cast<size_t>(CPU_COUNT(&first))) GTEST_SKIP() << "these tests have been bound to cores";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto as_one_of_two = [](const char* variable) {
    unsetenv("ANYNPU_THREADS");
    setenv(variable, "2", 1);
    std::exit(thread_count() == std::max<size_t>(1, usable_cores() / 2) ? 0 : 1);
  };
  EXPECT_EXIT(as_one_of_two("LOCAL_WORLD_SIZE"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(as_one_of_two("OMPI_COMM_WORLD_LOCAL_SIZE"), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace npu
