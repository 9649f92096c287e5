// SPDX-License-Identifier: Apache-2.0
// Collectives over ranks of this process, on data that tells rank and position. A test of the suite `Collective` runs
// with several numbers of ranks over each transport.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "comm/collective/collective.h"
#include "comm/communicator/comm_fixture.h"
#include "device/device_fixture.h"

namespace npu::comm {

inline constexpr Element kInt32{DType::kInt32, 4};
inline constexpr Element kFloat{DType::kFloat, 4};

/// Small sizes, both sides of what fits into a post, odd ones, and one that goes past the cache.
inline const std::vector<uint64_t> kCounts = {0, 1, 3, 1023, 1024, 1025, 4999, 40'003, 100'003};

inline int32_t value(uint32_t rank, uint64_t i) { return static_cast<int32_t>(rank * 7919 + i * 31 + (i >> 7)); }

/// Ranks, and buffers of theirs.
struct Case {
  explicit Case(uint32_t size, Over over = Over::kSharedMemory, const Options& options = {})
      : ranks(size, over, options) {}

  std::vector<Memory<int32_t>> filled(uint64_t count) {
    std::vector<Memory<int32_t>> out;
    for (uint32_t r = 0; r < ranks.size(); ++r) {
      out.emplace_back(ranks[r], count);
      for (uint64_t i = 0; i < count; ++i) out[r][i] = value(r, i);
    }
    return out;
  }
  std::vector<Memory<int32_t>> empty(uint64_t count) {
    std::vector<Memory<int32_t>> out;
    for (uint32_t r = 0; r < ranks.size(); ++r) {
      out.emplace_back(ranks[r], count);
      for (uint64_t i = 0; i < count; ++i) out[r][i] = -1;
    }
    return out;
  }
  template <class F>
  void on_each(F&& body) {
    for (uint32_t r = 0; r < ranks.size(); ++r) body(r, ranks[r], ranks.stream(r));
    ranks.expect_fine();
  }
  Ranks ranks;
};

inline int32_t reduced(ReduceOp op, uint32_t size, uint64_t i) {
  auto sum = static_cast<uint32_t>(value(0, i));
  for (uint32_t r = 1; r < size; ++r) {
    const int32_t next = value(r, i), now = static_cast<int32_t>(sum);
    if (op == ReduceOp::kSum) sum += static_cast<uint32_t>(next);
    if (op == ReduceOp::kProd) sum *= static_cast<uint32_t>(next);
    if (op == ReduceOp::kMax) sum = static_cast<uint32_t>(std::max(now, next));
    if (op == ReduceOp::kMin) sum = static_cast<uint32_t>(std::min(now, next));
  }
  return static_cast<int32_t>(sum);
}

struct Setup {
  uint32_t ranks;
  Over over;
};
inline void PrintTo(const Setup& setup, std::ostream* out) {
  *out << setup.ranks << " ranks over ";
  PrintTo(setup.over, out);
}

class Collective : public testing::TestWithParam<Setup> {
 protected:
  const uint32_t size_ = GetParam().ranks;
  Case test_{size_, GetParam().over};
};

}  // namespace npu::comm
