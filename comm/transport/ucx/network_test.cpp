// SPDX-License-Identifier: Apache-2.0
// What only ranks on several hosts do: data in pieces, messages that outlive their sender, groups that come and go
// while the network works for others. Collectives between hosts are tested in collective/.
#include "comm/transport/ucx/network.h"

#include "comm/collective/collective_fixture.h"

namespace npu::comm {
namespace {

constexpr uint64_t kPieces = 700'001;  // int32: many pieces, and a part of one

TEST(Network, LargeMessagesComeInPieces) {
  Case test(2, Over::kHosts);
  auto sent = test.filled(kPieces), received = test.empty(kPieces);
  for (int round = 0; round < 5; ++round) {
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      exchange(
          comm, stream,
          {{false, sent[r].address(), kPieces, kInt32, 1 - r}, {true, received[r].address(), kPieces, kInt32, 1 - r}});
    });
    for (uint32_t r = 0; r < 2; ++r)
      for (uint64_t i = 0; i < kPieces; ++i) ASSERT_EQ(received[r][i], value(1 - r, i));
  }
}

TEST(Network, LargeDataOfCollectivesComesInPieces) {
  Case test(2, Over::kHosts);
  auto sent = test.filled(kPieces), received = test.empty(2 * kPieces);
  test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    all_gather(comm, stream, sent[r].address(), received[r].address(), kPieces, kInt32);
  });
  for (uint32_t r = 0; r < 2; ++r)
    for (uint64_t i = 0; i < 2 * kPieces; ++i)
      ASSERT_EQ(received[r][i], value(static_cast<uint32_t>(i / kPieces), i % kPieces));
}

TEST(Network, OneWhoExpectsLittleHearsOfMuch) {
  Options options;
  options.exec_timeout_s = 20;
  Case test(2, Over::kHosts, options);
  auto sent = test.filled(kPieces), received = test.empty(kPieces);
  const std::vector<uint64_t> sends = {kPieces, 0}, receives = {0, 10};  // of rank 0 to rank 1
  for (uint32_t r = 0; r < 2; ++r) {
    std::vector<Extent> to(2), from(2);
    to[1 - r].count = sends[r];
    from[1 - r].count = receives[r];
    all_to_all_v(test.ranks[r], test.ranks.stream(r), sent[r].address(), to, received[r].address(), from, kInt32);
  }
  EXPECT_NE(test.ranks.wait(1).find("this rank expects 10 elements of it, and it has 700001"), std::string::npos);
  EXPECT_NE(test.ranks.wait(0), "");
}

TEST(Network, AMessageThatNobodyTakesOutlivesItsSender) {
  Case test(2, Over::kHosts);
  auto sent = test.filled(kPieces);
  exchange(test.ranks[0], test.ranks.stream(0), {{false, sent[0].address(), kPieces, kInt32, 1}});
  while (test.ranks[1].transport().message(0, 1) == nullptr) std::this_thread::yield();
  test.ranks[1].transport().abort(static_cast<int32_t>(Result::kRemote), "nobody takes it");
  EXPECT_NE(test.ranks.wait(0).find("nobody takes it"), std::string::npos);
  test.ranks.destroy(0);
  test.ranks.destroy(1);
  Ranks others(2, Over::kHosts);  // moves the network on
  for (uint32_t r = 0; r < 2; ++r) barrier(others[r], others.stream(r));
  others.expect_fine();
}

TEST(Network, GroupsComeAndGoWhileOthersWork) {
  std::atomic<bool> over{false};
  std::jthread working([&] {
    Case test(4, Over::kHosts);
    auto sent = test.filled(5000), received = test.empty(5000);
    while (!over)
      test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
        all_reduce(comm, stream, sent[r].address(), received[r].address(), 5000, kInt32, ReduceOp::kSum);
      });
    for (uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(received[3][i], reduced(ReduceOp::kSum, 4, i));
  });
  for (int group = 0; group < 40; ++group) {
    Ranks ranks(3, Over::kHosts);
    for (uint32_t r = 0; r < 3; ++r) barrier(ranks[r], ranks.stream(r));
    if (group % 4 == 3)
      ranks[1].transport().abort(static_cast<int32_t>(Result::kRemote), "it ends early");
    else
      ranks.expect_fine();
  }
  over = true;
}

TEST(Network, AConnectionMayBreakWhileItsGroupEnds) {
  for (int round = 0; round < 200; ++round) {
    Ranks ranks(2, Over::kHosts);
    Wire& wire = Wire::get();
    const Peer& other = ranks[0].group().peers[1];
    Endpoint& endpoint = wire.connected(other.process, other.address);
    {
      const auto lock = wire.lock();
      wire.break_off(endpoint);
    }
    wire.hand_over();
    ranks.destroy(0);
    ranks.destroy(1);
  }
}

}  // namespace
}  // namespace npu::comm
