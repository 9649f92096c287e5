// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/saved_model/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace npu::graph::tensorflow {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // bits reversed
constexpr size_t kWord = sizeof(uint64_t);
static_assert(std::endian::native == std::endian::little);

/// Table k: what a byte does to the checksum when k more bytes follow it. Eight of them take a word at a time.
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, kWord> t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (kPolynomial & -(crc & 1));
    t[0][i] = crc;
  }
  for (size_t k = 1; k < kWord; ++k)
    for (size_t i = 0; i < 256; ++i) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 255];
  return t;
}();

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
  uint32_t crc = ~before;
  for (; bytes.size() >= kWord; bytes.remove_prefix(kWord)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), kWord);
    word ^= crc;
    crc = 0;
    for (size_t i = 0; i < kWord; ++i) crc ^= kTables[kWord - 1 - i][word >> 8 * i & 255];
  }
  for (const char c : bytes) crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<unsigned char>(c)) & 255];
  return ~crc;
}

uint32_t masked(uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8; }

}  // namespace npu::graph::tensorflow
