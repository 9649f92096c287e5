// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/overflow_record.h"

#include <gtest/gtest.h>

#include <cstring>

namespace npu::graph::record {
namespace {

template <class Word>
Word word_at(const std::array<std::byte, kOverflowBytes>& payload, size_t offset) {
  Word word;
  std::memcpy(&word, payload.data() + offset, sizeof word);
  return word;
}

TEST(OverflowRecord, NamesTheTaskOfAnAiCore) {
  const auto payload = encode_overflow({Unit::kAiCore, 5, 6, 7, kFloatOverflow | kHalfOverflow});
  EXPECT_EQ(word_at<uint32_t>(payload, 0), 0x5a5a5a5au);
  EXPECT_EQ(word_at<uint32_t>(payload, 4), 1u);
  EXPECT_EQ(word_at<uint32_t>(payload, 8), 1u);
  EXPECT_EQ(word_at<uint32_t>(payload, 12), 0u);
  EXPECT_EQ(word_at<uint32_t>(payload, 20), 14 * 8u);
  EXPECT_EQ(word_at<uint64_t>(payload, 24), 5u);
  EXPECT_EQ(word_at<uint64_t>(payload, 32), 6u);
  EXPECT_EQ(word_at<uint64_t>(payload, 40), 7u);
  EXPECT_EQ(word_at<uint64_t>(payload, 24 + 10 * 8), 0x120u);
  // No second record.
  EXPECT_EQ(word_at<uint32_t>(payload, 24 + 14 * 8), 0u);
}

TEST(OverflowRecord, OfASumBetweenDevicesHasAddressesInFrontOfTheStatus) {
  const auto payload = encode_overflow({Unit::kSdma, 0, 6, 7, kSumOverflow});
  EXPECT_EQ(word_at<uint32_t>(payload, 12), 3u);
  EXPECT_EQ(word_at<uint32_t>(payload, 20), 10 * 8u);
  EXPECT_EQ(word_at<uint64_t>(payload, 24 + 3 * 8), 3u);
  EXPECT_EQ(word_at<uint64_t>(payload, 24 + 9 * 8), 0x900u);
}

}  // namespace
}  // namespace npu::graph::record
