// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

TEST_P(Collective, MessagesGoRound) {
  for (const uint64_t count : {uint64_t{0}, uint64_t{5}, uint64_t{256}, uint64_t{257}, uint64_t{50'001}}) {
    auto send = test_.filled(count), recv = test_.empty(count);
    for (int round = 0; round < 3; ++round)
      test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
        exchange(comm, stream,
                 {{false, send[r].address(), count, kInt32, (r + 1) % size_},
                  {true, recv[r].address(), count, kInt32, (r + size_ - 1) % size_}});
      });
    for (uint32_t r = 0; r < size_; ++r)
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[r][i], value((r + size_ - 1) % size_, i));
  }
}

}  // namespace
}  // namespace npu::comm
