// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

TEST_P(Collective, AllGatherJoinsAll) {
  for (const uint64_t count : kCounts) {
    auto send = test_.filled(count), recv = test_.empty(count * size_);
    test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      all_gather(comm, stream, send[r].address(), recv[r].address(), count, kInt32);
    });
    for (uint32_t r = 0; r < size_; ++r)
      for (uint64_t i = 0; i < count * size_; ++i)
        ASSERT_EQ(recv[r][i], value(static_cast<uint32_t>(i / count), i % count));
  }
}

TEST_P(Collective, PartsOfUnequalSizeAreGatheredAndReduced) {
  std::vector<Extent> extents(size_);
  uint64_t all = 0;
  for (uint32_t i = 0; i < size_; ++i) extents[i] = {all, i * 700 + 3}, all += extents[i].count + 5;  // with gaps
  auto send = test_.filled(all), gathered = test_.empty(all), reduced_parts = test_.empty(all);
  test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    all_gather_v(comm, stream, send[r].address(), extents[r].count, gathered[r].address(), extents, kInt32);
    reduce_scatter_v(comm, stream, send[r].address(), extents, reduced_parts[r].address(), extents[r].count, kInt32,
                     ReduceOp::kSum);
  });
  for (uint32_t r = 0; r < size_; ++r) {
    for (uint32_t from = 0; from < size_; ++from) {
      for (uint64_t i = 0; i < extents[from].count; ++i)
        ASSERT_EQ(gathered[r][extents[from].offset + i], value(from, i));
      for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(gathered[r][extents[from].offset + extents[from].count + i], -1);
    }
    for (uint64_t i = 0; i < extents[r].count; ++i)
      ASSERT_EQ(reduced_parts[r][i], reduced(ReduceOp::kSum, size_, extents[r].offset + i));
  }
}

}  // namespace
}  // namespace npu::comm
