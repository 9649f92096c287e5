// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

TEST_P(Collective, ScatterPartsTheRoot) {
  for (const uint64_t count : kCounts) {
    auto send = test_.filled(count * size_), recv = test_.empty(count);
    test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      scatter(comm, stream, r == 0 ? send[r].address() : nullptr, recv[r].address(), count, kInt32, 0);
    });
    for (uint32_t r = 0; r < size_; ++r)
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[r][i], value(0, r * count + i));
  }
}

}  // namespace
}  // namespace npu::comm
