// SPDX-License-Identifier: Apache-2.0
#include "ops/random/philox.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/tensor.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

using Block = std::array<uint32_t, 4>;

Block block_of(RandomState state, uint64_t block) {
  Block out;
  philox(state, block, 1, out.data());
  return out;
}

// Known answers of the generator's authors: counter words are (offset, block), key is the seed.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(block_of({0, 0}, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(block_of({ones, ones}, ones), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(block_of({0x299f31d0a4093822, 0x85a308d3243f6a88}, 0x0370734413198a2e),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, ManyBlocksAreTheSameAsSingleOnes) {
  std::vector<uint32_t> words(4 * 37);
  philox({7, 30}, 5, 37, words.data());
  for (uint64_t i = 0; i < 37; ++i) {
    const Block one = block_of({7, 30}, 5 + i);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), words.begin() + static_cast<int64_t>(4 * i))) << i;
  }
}

TEST(Philox, CountersOf128BitsCarry) {
  const uint64_t ones = ~uint64_t{0};
  std::array<uint32_t, 8> words;
  philox(RandomCounter{ones, 4, 9}, 2, words.data());
  EXPECT_TRUE(std::equal(words.begin(), words.begin() + 4, block_of({9, ones}, 4).begin()));
  EXPECT_TRUE(std::equal(words.begin() + 4, words.end(), block_of({9, 0}, 5).begin()));
}

template <class T>
T& field(Operator& op, std::string_view name) {
  return op.def->field(name)->of<T>(op);
}

std::vector<float> normals(Tensor out, std::vector<float>& data) {
  auto op = create(*find_operator("normal"));
  field<Operand>(*op, "mean").scalar = 1.0;
  field<Operand>(*op, "std").scalar = 2.0;
  field<Tensor>(*op, "out") = out;
  field<int64_t>(*op, "seed") = 11;
  op->prepare();
  op->run();
  return data;
}

TEST(Random, NormalHasItsMomentsInAnyLayout) {
  constexpr int64_t kRows = 300, kColumns = 1001;
  std::vector<float> plain(kRows * kColumns), turned(plain.size());
  normals(make_tensor(plain.data(), DType::kFloat, {kRows, kColumns}), plain);
  normals(make_tensor(turned.data(), DType::kFloat, {kColumns, kRows}).transposed(0, 1), turned);
  double sum = 0, squares = 0;
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      const float x = plain[static_cast<size_t>(r * kColumns + c)];
      ASSERT_EQ(x, turned[static_cast<size_t>(c * kRows + r)]);
      sum += x;
      squares += (x - 1.0) * (x - 1.0);
    }
  }
  const double n = kRows * kColumns;
  EXPECT_NEAR(sum / n, 1, 5 * 2 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 4, 5 * 4 * std::sqrt(2 / n));
}

TEST(Random, DropoutMaskKeepsItsShareAndPadsWithZeros) {
  std::vector<uint8_t> mask(100016 / 8 + 4, 0xff);
  auto op = create(*find_operator("dropout_mask"));
  field<std::vector<int64_t>>(*op, "shape") = {100003};
  field<double>(*op, "p") = 0.25;
  field<Tensor>(*op, "mask") = make_tensor(mask.data(), DType::kUInt8, {static_cast<int64_t>(mask.size())});
  op->prepare();
  op->run();
  int64_t kept = 0;
  for (const uint8_t byte : mask) kept += __builtin_popcount(byte);
  EXPECT_NEAR(static_cast<double>(kept) / 100003, 0.75, 0.01);
  EXPECT_EQ(mask.back(), 0);
}

TEST(Random, RefusesBadArguments) {
  std::vector<float> data(4);
  auto op = create(*find_operator("uniform"));
  field<Tensor>(*op, "out") = make_tensor(data.data(), DType::kFloat, {4});
  field<double>(*op, "from") = 2;
  EXPECT_THROW(op->prepare(), Error);
}

}  // namespace
}  // namespace npu::ops
