// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace npu::migrate {
namespace {

using Lists = std::vector<std::vector<size_t>>;

Lists sorted(Lists lists) {
  for (std::vector<size_t>& each : lists) std::ranges::sort(each);
  return lists;
}

TEST(Rings, ImportedModulesComeFirst) {
  EXPECT_EQ(rings({}), Lists());
  EXPECT_EQ(rings({{1}, {2}, {}}), (Lists{{2}, {1}, {0}}));
  EXPECT_EQ(rings({{}, {0}, {0, 1}}), (Lists{{0}, {1}, {2}}));
  EXPECT_EQ(rings({{1, 2}, {3}, {3}, {}}), (Lists{{3}, {1}, {2}, {0}}));
}

TEST(Rings, ModulesThatReachEachOtherAreOne) {
  EXPECT_EQ(sorted(rings({{1}, {2}, {0}})), (Lists{{0, 1, 2}}));
  EXPECT_EQ(sorted(rings({{1}, {0, 2}, {3}, {2}})), (Lists{{2, 3}, {0, 1}}));
  EXPECT_EQ(sorted(rings({{1, 2}, {0}, {0}, {3, 0}})), (Lists{{0, 1, 2}, {3}}));  // two ways round through 0
  EXPECT_EQ(sorted(rings({{1}, {2, 3}, {}, {0}})), (Lists{{2}, {0, 1, 3}}));
}

TEST(Rings, LongChainsNeedNoStack) {
  constexpr size_t kMany = 200000;
  Lists imports(kMany);
  for (size_t i = 0; i + 1 < kMany; ++i) imports[i] = {i + 1};
  EXPECT_EQ(rings(imports).size(), kMany);
  imports.back() = {0};
  std::vector<size_t> all(kMany);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted(rings(imports)), Lists{all});
}

}  // namespace
}  // namespace npu::migrate
