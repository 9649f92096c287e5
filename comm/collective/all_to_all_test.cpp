// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

TEST_P(Collective, AllToAllTransposes) {
  for (const uint64_t count : kCounts) {
    auto send = test_.filled(count * size_), recv = test_.empty(count * size_);
    test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      all_to_all(comm, stream, send[r].address(), recv[r].address(), count, kInt32);
    });
    for (uint32_t r = 0; r < size_; ++r)
      for (uint64_t i = 0; i < count * size_; ++i)
        ASSERT_EQ(recv[r][i], value(static_cast<uint32_t>(i / count), r * count + i % count));
  }
}

/// Rank `from` sends this many elements to `to`; some pairs nothing.
uint64_t parts(uint32_t from, uint32_t to) { return (from * uint64_t{5} + to * uint64_t{3}) % 7 * 401; }

TEST_P(Collective, AllToAllVMovesPartsOfAnySize) {
  const uint64_t room = uint64_t{7} * 401 * size_;
  auto send = test_.filled(room), recv = test_.empty(room);
  std::vector<uint64_t> matrix(size_t{size_} * size_);
  for (uint32_t a = 0; a < size_; ++a)
    for (uint32_t b = 0; b < size_; ++b) matrix[a * size_ + b] = parts(a, b);
  const auto before = [&](uint32_t from, uint32_t to, bool row) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < (row ? to : from); ++i) sum += row ? parts(from, i) : parts(i, to);
    return sum;
  };
  for (const bool by_matrix : {false, true}) {
    test_.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      std::vector<Extent> sent(size_), received(size_);
      for (uint32_t i = 0; i < size_; ++i) {
        sent[i] = {before(r, i, true), parts(r, i)};
        received[i] = {before(i, r, false), parts(i, r)};
      }
      if (by_matrix)
        all_to_all_vc(comm, stream, send[r].address(), matrix, recv[r].address(), kInt32);
      else
        all_to_all_v(comm, stream, send[r].address(), sent, recv[r].address(), received, kInt32);
    });
    for (uint32_t r = 0; r < size_; ++r)
      for (uint32_t from = 0; from < size_; ++from)
        for (uint64_t i = 0; i < parts(from, r); ++i)
          ASSERT_EQ(recv[r][before(from, r, false) + i], value(from, before(from, r, true) + i));
  }
}

}  // namespace
}  // namespace npu::comm
