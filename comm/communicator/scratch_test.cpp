// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator/scratch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace npu::comm {
namespace {

TEST(Scratch, BlocksAreAlignedAndApart) {
  Scratch scratch;
  std::set<std::byte*> all;
  for (const uint64_t bytes : {1, 64, 65, 4096, 4096}) {
    std::byte* const block = scratch.take(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    EXPECT_TRUE(all.insert(block).second);
    block[bytes - 1] = std::byte{1};
  }
}

TEST(Scratch, TheNextGetsWhatFitsOfTheLast) {
  std::byte *large, *little;
  {
    Scratch last;
    large = last.take(1 << 20);
    little = last.take(1 << 10);
  }
  Scratch next;
  EXPECT_EQ(next.take(1000), little);  // the large one is left for whom it fits
  EXPECT_EQ(next.take((1 << 20) - 100), large);
}

}  // namespace
}  // namespace npu::comm
