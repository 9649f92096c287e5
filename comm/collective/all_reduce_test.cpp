// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

TEST_P(Collective, AllReduceGivesEveryRankTheResult) {
  for (const uint64_t count : kCounts)
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin}) {
      auto send = test_.filled(count), recv = test_.empty(count);
      test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
        all_reduce(comm, stream, send[r].address(), recv[r].address(), count, kInt32, op);
      });
      for (uint32_t r = 0; r < size_; ++r)
        for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[r][i], reduced(op, size_, i)) << count << " at " << i;
    }
}

TEST_P(Collective, AllReduceInPlace) {
  for (const uint64_t count : kCounts) {
    auto both = test_.filled(count);
    test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      all_reduce(comm, stream, both[r].address(), both[r].address(), count, kInt32, ReduceOp::kSum);
    });
    for (uint32_t r = 0; r < size_; ++r)
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(both[r][i], reduced(ReduceOp::kSum, size_, i));
  }
}

}  // namespace
}  // namespace npu::comm
