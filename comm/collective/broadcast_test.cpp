// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

TEST_P(Collective, BroadcastCopiesTheRoot) {
  for (const uint64_t count : kCounts)
    for (uint32_t root = 0; root < size_; ++root) {
      auto buffer = test_.filled(count);
      test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
        broadcast(comm, stream, buffer[r].address(), count, kInt32, root);
      });
      for (uint32_t r = 0; r < size_; ++r)
        for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(buffer[r][i], value(root, i));
    }
}

}  // namespace
}  // namespace npu::comm
