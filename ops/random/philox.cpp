// SPDX-License-Identifier: Apache-2.0
// The rounds of sixteen blocks run side by side, as arrays that the compiler keeps in vector registers: one block's ten
// rounds wait for each other.
#include "ops/random/philox.h"

#include <algorithm>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/random/philox.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

constexpr int kLanes = 16;  // blocks made side by side, so that the compiler uses whole registers

struct Counters {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
};

// Multipliers and the key's steps below are the generator's published constants.
HWY_INLINE void round_of(Counters& c, uint32_t key0, uint32_t key1) {
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t a = uint64_t{0xD2511F53u} * c.c0[i];
    const uint64_t b = uint64_t{0xCD9E8D57u} * c.c2[i];
    const uint32_t n0 = static_cast<uint32_t>(b >> 32) ^ c.c1[i] ^ key0;
    const uint32_t n2 = static_cast<uint32_t>(a >> 32) ^ c.c3[i] ^ key1;
    c.c0[i] = n0;
    c.c1[i] = static_cast<uint32_t>(b);
    c.c2[i] = n2;
    c.c3[i] = static_cast<uint32_t>(a);
  }
}

/// `counter_at(i)` is the counter of block i as two numbers of 64 bits.
template <class CounterAt>
HWY_INLINE void make_blocks(uint64_t key, int64_t blocks, uint32_t* words, CounterAt&& counter_at) {
  for (int64_t at = 0; at < blocks; at += kLanes) {
    Counters c;
    for (int i = 0; i < kLanes; ++i) {
      const RandomCounter block = counter_at(static_cast<uint64_t>(at + i));
      c.c0[i] = static_cast<uint32_t>(block.low);
      c.c1[i] = static_cast<uint32_t>(block.low >> 32);
      c.c2[i] = static_cast<uint32_t>(block.high);
      c.c3[i] = static_cast<uint32_t>(block.high >> 32);
    }
    auto key0 = static_cast<uint32_t>(key);
    auto key1 = static_cast<uint32_t>(key >> 32);
    for (int r = 0; r < 10; ++r) {
      round_of(c, key0, key1);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    // The last blocks may be fewer: their counters are made all the same, and their words dropped.
    const int64_t n = std::min<int64_t>(kLanes, blocks - at);
    for (int64_t i = 0; i < n; ++i) {
      uint32_t* w = words + 4 * (at + i);
      w[0] = c.c0[i];
      w[1] = c.c1[i];
      w[2] = c.c2[i];
      w[3] = c.c3[i];
    }
  }
}

void philox_blocks(RandomState state, uint64_t first, int64_t blocks, uint32_t* words) {
  // Words 0 and 1 are the offset, which the client moves on by a constant; the number of the block stands in words 2
  // and 3, so that calls never share a block.
  make_blocks(state.seed, blocks, words,
              [&](uint64_t i) HWY_ATTR { return RandomCounter{state.offset, first + i, 0}; });
}

void philox_counted(RandomCounter counter, int64_t blocks, uint32_t* words) {
  make_blocks(counter.key, blocks, words, [&](uint64_t i) HWY_ATTR { return counter.after(i); });
}

void philox_pairs(RandomCounter counter, uint64_t apart, int64_t runs, uint32_t* words) {
  make_blocks(counter.key, 2 * runs, words, [&](uint64_t i) HWY_ATTR { return counter.after(i / 2 * apart + i % 2); });
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(philox_blocks);
HWY_EXPORT(philox_counted);
HWY_EXPORT(philox_pairs);
void philox(RandomState state, uint64_t first, int64_t blocks, uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(philox_blocks)(state, first, blocks, words);
}
void philox(RandomCounter counter, int64_t blocks, uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(philox_counted)(counter, blocks, words);
}
void philox_runs(RandomCounter counter, uint64_t apart, int64_t runs, uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(philox_pairs)(counter, apart, runs, words);
}
}  // namespace npu::ops
#endif
