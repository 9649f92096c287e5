// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/overflow/record.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/json.h"
#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

template <class T>
void put(std::vector<std::byte>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::vector<std::byte> old_record() {
  std::vector<std::byte> bytes(2048);
  put<uint64_t>(bytes, 256 + 8, 5), put<uint64_t>(bytes, 256 + 16, 9), put<uint64_t>(bytes, 256 + 32, 0xabc);
  put<uint64_t>(bytes, 1024 + 16, 0x20);
  return bytes;
}

std::vector<std::byte> new_record(uint32_t version) {
  std::vector<std::byte> bytes(2048);
  put<uint32_t>(bytes, 0, 0x5a5a5a5a), put(bytes, 4, version), put<uint32_t>(bytes, 8, 1), put<uint32_t>(bytes, 12, 1);
  put<uint64_t>(bytes, 24 + 8, 5), put<uint64_t>(bytes, 24 + 16, 9), put<uint64_t>(bytes, 24 + 32, 65535);
  put<uint64_t>(bytes, 24 + 80, 0x100);
  return bytes;
}

TEST(OverflowRecord, OfBothFormsNamesItsTask) {
  for (const auto& [bytes, kind, status] : {std::tuple{old_record(), "AI Core", "32"},
                                            {new_record(0), "AIV", "256"},
                                            {new_record(1), "AIV", "[256, 0, 0, 0]"}}) {
    const OverflowTask task = overflow_task(decode_overflow(bytes));
    EXPECT_EQ(task.kind, kind);
    EXPECT_EQ(task.status, status);
    EXPECT_EQ(task.stream, 5u);
    EXPECT_EQ(task.task, 9u);
    EXPECT_FALSE(task.context.has_value());
  }
  EXPECT_EQ(decode_overflow(old_record())["AI Core"]["pc_start"], "0xabc");
}

TEST(OverflowRecord, AnyBytesGiveARecordOrARefusal) {
  EXPECT_THROW(decode_overflow({}), Refusal);
  EXPECT_THROW(overflow_task(decode_overflow(std::vector<std::byte>(2048))), Refusal);
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    auto bytes = i % 2 ? old_record() : new_record(random() % 3);
    bytes.resize(i % 3 ? bytes.size() : random() % bytes.size());
    if (!bytes.empty()) bytes[random() % std::min<size_t>(bytes.size(), 200)] = static_cast<std::byte>(random());
    try {
      overflow_task(decode_overflow(bytes));
    } catch (const Refusal&) {
    }
  }
}

}  // namespace
}  // namespace npu::compare
