// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

TEST_P(Collective, ReduceReachesTheRootOnly) {
  for (const uint64_t count : kCounts) {
    const uint32_t root = size_ - 1;
    auto send = test_.filled(count), recv = test_.empty(count);
    test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      reduce(comm, stream, send[r].address(), r == root ? recv[r].address() : nullptr, count, kInt32, ReduceOp::kSum,
             root);
    });
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[root][i], reduced(ReduceOp::kSum, size_, i));
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[0][i], root == 0 ? recv[0][i] : -1);
  }
}

}  // namespace
}  // namespace npu::comm
