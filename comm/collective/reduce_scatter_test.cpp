// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

TEST_P(Collective, ReduceScatterGivesEachItsPart) {
  for (const uint64_t count : kCounts) {
    auto send = test_.filled(count * size_), recv = test_.empty(count);
    test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      reduce_scatter(comm, stream, send[r].address(), recv[r].address(), count, kInt32, ReduceOp::kSum);
    });
    for (uint32_t r = 0; r < size_; ++r)
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[r][i], reduced(ReduceOp::kSum, size_, r * count + i));
  }
}

TEST_P(Collective, ReduceScatterInPlace) {
  constexpr uint64_t kCount = 3001;
  auto both = test_.filled(kCount * size_);
  test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    auto* own = static_cast<int32_t*>(both[r].address()) + r * kCount;
    reduce_scatter(comm, stream, both[r].address(), own, kCount, kInt32, ReduceOp::kSum);
  });
  for (uint32_t r = 0; r < size_; ++r)
    for (uint64_t i = r * kCount; i < (r + 1) * kCount; ++i) ASSERT_EQ(both[r][i], reduced(ReduceOp::kSum, size_, i));
}

TEST_P(Collective, PartsMayLieElsewhereOnEachRank) {
  // Rank r keeps its parts in reverse when r is odd, and each has gaps of its own.
  std::vector<std::vector<Extent>> extents(size_, std::vector<Extent>(size_));
  uint64_t all = 0;
  for (uint32_t r = 0; r < size_; ++r) {
    uint64_t end = r;
    for (uint32_t k = 0; k < size_; ++k) {
      const uint32_t part = r % 2 == 0 ? k : size_ - 1 - k;
      extents[r][part] = {end, part * 700 + 3};
      end += extents[r][part].count + r;
    }
    all = std::max(all, end);
  }
  auto send = test_.filled(all), recv = test_.empty(all);
  test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    reduce_scatter_v(comm, stream, send[r].address(), extents[r], recv[r].address(), extents[r][r].count, kInt32,
                     ReduceOp::kMax);
  });
  for (uint32_t r = 0; r < size_; ++r)
    for (uint64_t i = 0; i < extents[r][r].count; ++i) {
      int32_t most = INT32_MIN;
      for (uint32_t from = 0; from < size_; ++from) most = std::max(most, value(from, extents[from][r].offset + i));
      ASSERT_EQ(recv[r][i], most);
    }
}

}  // namespace
}  // namespace npu::comm
