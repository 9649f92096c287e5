// SPDX-License-Identifier: Apache-2.0
#include "graph/model/digest.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace npu::graph::model {
namespace {

constexpr uint64_t kOdd[] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93};

uint64_t word_at(const std::byte* from, size_t count) {
  uint64_t word = 0;
  std::memcpy(&word, from, count);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

/// Every bit of the result depends on every bit of `x`.
uint64_t spread(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Four sums side by side, so that a core has something to do while one of them is multiplied.
class Sums {
 public:
  void add(const uint64_t (&words)[4]) {
    for (size_t i = 0; i < 4; ++i) {
      sums_[i] = std::rotl(sums_[i] ^ (words[i] * kOdd[i]), 29) * kOdd[3 - i] + words[(i + 1) % 4];
    }
  }
  Digest end(uint64_t count) const {
    Digest out{count * kOdd[0], count * kOdd[1]};
    for (size_t i = 0; i < 4; ++i) {
      out.first = spread(out.first ^ sums_[i]) + kOdd[i];
      out.second = spread(out.second + std::rotl(sums_[3 - i], 17)) ^ out.first;
    }
    return {spread(out.first), spread(out.second)};
  }

 private:
  uint64_t sums_[4] = {kOdd[1], kOdd[2], kOdd[3], kOdd[0]};
};

}  // namespace

std::string Digest::text() const { return fmt::format("{:016x}{:016x}", first, second); }

Digest digest_of(std::span<const std::byte> bytes) {
  Sums sums;
  const uint64_t count = bytes.size();
  while (!bytes.empty()) {
    uint64_t words[4] = {};
    for (size_t i = 0; i < 4 && !bytes.empty(); ++i) {
      const size_t taken = std::min<size_t>(bytes.size(), sizeof words[i]);
      words[i] = word_at(bytes.data(), taken);
      bytes = bytes.subspan(taken);
    }
    sums.add(words);
  }
  return sums.end(count);
}

}  // namespace npu::graph::model
