// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/conversion/nibble.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace npu::ops {
namespace {

// Number i of bytes 0, 1, …, 255: its low half first.
int expected(int64_t i) {
  const int64_t bits = i % 2 == 0 ? i / 2 % 16 : i / 2 / 16;
  return static_cast<int>(bits < 8 ? bits : bits - 16);
}

TEST(Nibble, AllBytesFromAnyNumberOn) {
  std::vector<uint8_t> bytes(256);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  for (const int64_t stride : {1, 2, 3, 64}) {
    for (const int64_t first : {0, 1, 2, 31, 447}) {
      for (const int64_t count : {0, 1, 2, 17, 64, 65, 512}) {
        const int64_t fits = std::min(count, (511 - first) / stride + 1);
        std::vector<float> read(static_cast<size_t>(fits) + 1, 99);
        read_nibbles(bytes.data(), first, stride, read.data(), fits);
        for (int64_t i = 0; i < fits; ++i) ASSERT_EQ(read[static_cast<size_t>(i)], expected(first + i * stride));
        EXPECT_EQ(read.back(), 99) << "writes past the last number";
      }
    }
  }
}

}  // namespace
}  // namespace npu::ops
