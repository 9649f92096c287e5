// SPDX-License-Identifier: Apache-2.0
// What goes on beside the collectives: threads, ends, and arguments at the edge.
#include "comm/communicator/communicator.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "comm/collective/collective.h"
#include "comm/communicator/comm_fixture.h"
#include "comm/rendezvous/join.h"
#include "device/context/context.h"
#include "device/device_fixture.h"
#include "device/queue/stream_table.h"

namespace npu::comm {
namespace {

constexpr Element kFloat{DType::kFloat, 4};
constexpr Element kByte{DType::kInt8, 1};

Deadline soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

TEST(Communicator, CallsAfterItsEndAreRefused) {
  Ranks ranks(1);
  barrier(ranks[0], ranks.stream(0));
  ranks.expect_fine();
  ranks[0].leave();
  EXPECT_ERROR(barrier(ranks[0], ranks.stream(0)), Code::kRtInternal, "was destroyed");
  EXPECT_ERROR(exchange(ranks[0], ranks.stream(0), {{false, nullptr, 0, kFloat, 0}}), Code::kRtInternal,
               "was destroyed");
  ranks.expect_fine();
}

TEST(Communicator, EndsWhileAnotherThreadCalls) {
  for (int round = 0; round < 50; ++round) {
    auto made = join_all(std::array{0});
    device::set_device(0);
    void* const stream = device::create_stream();
    std::jthread caller([ours = made[0], stream] {
      try {
        for (;;) barrier(*ours, device::stream_from_handle(stream));
      } catch (const Error& error) {
        EXPECT_NE(error.message().find("was destroyed"), std::string::npos) << error.message();
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    made[0]->leave();
    made.clear();  // the caller's may be the last
    caller.join();
    device::stream_from_handle(stream).synchronize();
    device::destroy_stream(stream);
  }
}

TEST(Communicator, LeavesUnderACallThatNobodyAnswers) {
  Ranks ranks(2);
  barrier(ranks[0], ranks.stream(0));
  const auto start = std::chrono::steady_clock::now();
  ranks[0].leave();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  const std::string text = ranks.wait(0);
  EXPECT_NE(text.find("still waiting for rank 1"), std::string::npos) << text;
  EXPECT_ERROR(barrier(ranks[1], ranks.stream(1)), Code::kRtInternal, "when its communicator was destroyed");
}

// The threads of a rank take turns as they like, so each kind of call has its own time: two ranks that called a barrier
// and a message in different orders would wait for each other.
TEST(Communicator, ThreadsShareOneStream) {
  Ranks ranks(2);
  for (const bool messages : {false, true}) {
    std::vector<std::jthread> callers;
    callers.reserve(4);
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&, rank = static_cast<uint32_t>(caller % 2)] {
        for (int i = 0; i < 300; ++i)
          if (messages)
            exchange(ranks[rank], ranks.stream(rank),
                     {{false, nullptr, 0, kFloat, 1 - rank}, {true, nullptr, 0, kFloat, 1 - rank}});
          else
            barrier(ranks[rank], ranks.stream(rank));
      });
    callers.clear();
    ranks.expect_fine();
  }
}

TEST(Communicator, StreamsShareOneCommunicator) {
  Ranks ranks(2);
  std::vector<void*> second;
  for (int rank = 0; rank < 2; ++rank) {
    device::set_device(rank);
    second.push_back(device::create_stream());
  }
  for (int i = 0; i < 200; ++i)
    for (uint32_t rank = 0; rank < 2; ++rank)
      barrier(ranks[rank], i % 2 == 0 ? ranks.stream(rank) : device::stream_from_handle(second[rank]));
  ranks.expect_fine();
  for (void* stream : second) {
    device::stream_from_handle(stream).synchronize();
    device::destroy_stream(stream);
  }
  device::set_device(0);
}

TEST(Communicator, CallsInTheCallersThreadTakeTurnsWithThoseOfStreams) {
  Ranks ranks(2);
  constexpr uint64_t kCounts[] = {3, 5000};
  std::vector<std::jthread> threads;
  for (uint32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      Memory<float> data(ranks[rank], kCounts[1]);
      std::fill_n(data.data(), data.size(), 1.0F);
      for (int i = 0; i < 20; ++i) {
        const Lane lane = i % 3 == 0 ? Lane(ranks.stream(rank)) : Lane::calling_thread();
        all_reduce(ranks[rank], lane, data.address(), data.address(), kCounts[i % 2], kFloat, ReduceOp::kSum);
      }
      // The last was in this thread: it has been done, behind those of the stream.
      EXPECT_EQ(data[0], 1 << 20);
      EXPECT_EQ(data[kCounts[1] - 1], 1 << 10);
      ranks.wait(rank);
    });
  threads.clear();
  ranks[0].leave();
  EXPECT_ERROR(barrier(ranks[0], Lane::calling_thread()), Code::kRtInternal, "was destroyed");
}

TEST(Communicator, AFaultIsRaisedInTheCallersThread) {
  Ranks ranks(2);
  std::jthread other([&] { EXPECT_ANY_THROW(broadcast(ranks[1], Lane::calling_thread(), nullptr, 0, kFloat, 1)); });
  EXPECT_ERROR(broadcast(ranks[0], Lane::calling_thread(), nullptr, 0, kFloat, 0), Code::kInvalidParam,
               "root is 0 and 1");
}

TEST(Communicator, AStreamOfAnotherDeviceIsRefusedAndHarmsNobody) {
  Ranks ranks(2);
  EXPECT_ERROR(barrier(ranks[0], ranks.stream(1)), Code::kInvalidParam,
               "belongs to device 1, but the communicator is of device 0");
  EXPECT_ERROR(exchange(ranks[0], ranks.stream(1), {{false, nullptr, 0, kFloat, 1}}), Code::kInvalidParam,
               "belongs to device 1, but the communicator is of device 0");
  for (uint32_t rank = 0; rank < 2; ++rank) barrier(ranks[rank], ranks.stream(rank));
  ranks.expect_fine();
}

TEST(Communicator, WhatFailsOnOneRankIsHeardByAll) {
  Ranks ranks(2);
  std::atomic<bool> asked{false};  // a call made after the failure would be refused at once
  ranks[0].launch_in_order(ranks.stream(0), "all_reduce", [&] {
    while (!asked) std::this_thread::yield();
    fail(Code::kRtInternal, "no memory");
  });
  barrier(ranks[1], ranks.stream(1));
  asked = true;
  for (const std::string& text : ranks.wait())
    EXPECT_NE(text.find("rank 0 (host here, device 0"), std::string::npos) << text;
  EXPECT_ERROR(barrier(ranks[1], ranks.stream(1)), Code::kRtInternal, "has failed in all_reduce: no memory");
}

TEST(Communicator, WhatFailedBeforeACallIsNotSentButHeardByAll) {
  Ranks ranks(2);
  Memory<float> first(ranks[0], 4), second(ranks[1], 4);
  std::fill_n(first.data(), 4, 1.0F);
  std::fill_n(second.data(), 4, 1.0F);
  ranks.stream(0).launch({"aclnnMm", 0, device::kTaskKernel, [] { fail(Code::kNnRuntime, "index 9 is too large"); }});
  all_reduce(ranks[1], ranks.stream(1), second.address(), second.address(), 4, kFloat, ReduceOp::kSum);
  all_reduce(ranks[0], ranks.stream(0), first.address(), first.address(), 4, kFloat, ReduceOp::kSum);
  for (const std::string& text : ranks.wait()) EXPECT_NE(text.find("index 9 is too large"), std::string::npos) << text;
  EXPECT_EQ(second[0], 1.0F);
}

TEST(Communicator, CountersWrap) {
  Ranks ranks(2);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Seat& seat = ranks.board().seat(rank);
    seat.phase.value = seat.posts[0].come.value = seat.posts[1].come.value = UINT32_MAX - 4;
  }
  constexpr uint64_t kCount = 5000;  // two phases each
  Memory<float> first(ranks[0], kCount), second(ranks[1], kCount);
  for (uint64_t i = 0; i < kCount; ++i) first[i] = second[i] = 1;
  for (int round = 0; round < 10; ++round) {
    all_reduce(ranks[0], ranks.stream(0), first.address(), first.address(), kCount, kFloat, ReduceOp::kSum);
    all_reduce(ranks[1], ranks.stream(1), second.address(), second.address(), kCount, kFloat, ReduceOp::kSum);
  }
  ranks.expect_fine();
  EXPECT_EQ(first[kCount - 1], 1024);
  EXPECT_EQ(second[0], 1024);
}

TEST(Communicator, NothingNeedsNoMemory) {
  Ranks ranks(3);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    Communicator& comm = ranks[rank];
    device::Stream& stream = ranks.stream(rank);
    const std::vector<Extent> none(3);
    all_reduce(comm, stream, nullptr, nullptr, 0, kFloat, ReduceOp::kSum);
    reduce(comm, stream, nullptr, nullptr, 0, kFloat, ReduceOp::kMax, 1);
    broadcast(comm, stream, nullptr, 0, kFloat, 2);
    reduce_scatter(comm, stream, nullptr, nullptr, 0, kFloat, ReduceOp::kSum);
    reduce_scatter_v(comm, stream, nullptr, none, nullptr, 0, kFloat, ReduceOp::kSum);
    all_gather(comm, stream, nullptr, nullptr, 0, kFloat);
    all_gather_v(comm, stream, nullptr, 0, nullptr, none, kFloat);
    scatter(comm, stream, nullptr, nullptr, 0, kFloat, 0);
    all_to_all(comm, stream, nullptr, nullptr, 0, kFloat);
    all_to_all_v(comm, stream, nullptr, none, nullptr, none, kFloat);
    all_to_all_vc(comm, stream, nullptr, std::vector<uint64_t>(9), nullptr, kFloat);
    exchange(comm, stream, {{false, nullptr, 0, kFloat, (rank + 1) % 3}, {true, nullptr, 0, kFloat, (rank + 2) % 3}});
    exchange(comm, stream, {});
  }
  ranks.expect_fine();
}

TEST(Communicator, SizesBeyondAllMemoryAreRefused) {
  Ranks ranks(2);
  Communicator& comm = ranks[0];
  device::Stream& stream = ranks.stream(0);
  Memory<float> block(comm, 16);
  void* const at = block.address();
  constexpr uint64_t kHuge = uint64_t{1} << 63;
  EXPECT_ERROR(all_reduce(comm, stream, at, at, UINT64_MAX / 2, kFloat, ReduceOp::kSum), Code::kInvalidParam, "memory");
  EXPECT_ANY_THROW(all_gather(comm, stream, at, at, kHuge, kByte));
  EXPECT_ANY_THROW(reduce_scatter(comm, stream, at, at, kHuge, kByte, ReduceOp::kSum));
  EXPECT_ANY_THROW(scatter(comm, stream, at, at, kHuge, kByte, 0));
  EXPECT_ANY_THROW(broadcast(comm, stream, at, UINT64_MAX, kByte, 0));
  EXPECT_ANY_THROW(all_to_all(comm, stream, at, block.data() + 1, kHuge, kByte));
  EXPECT_ANY_THROW(
      all_to_all_vc(comm, stream, at, std::array{kHuge, kHuge, uint64_t{4}, uint64_t{4}}, block.data() + 1, kByte));
  const std::vector<Extent> wraps = {{UINT64_MAX - 1, 4}, {0, 4}};
  EXPECT_ERROR(all_gather_v(comm, stream, at, 4, at, wraps, kByte), Code::kInvalidParam, "a part of recvBuf");
  EXPECT_ERROR(reduce_scatter_v(comm, stream, at, wraps, at, 4, kByte, ReduceOp::kSum), Code::kInvalidParam,
               "a part of sendBuf");
  EXPECT_EQ(comm.async_error(), 0);
}

TEST(Join, DevicesOfOneProcessAreDifferent) {
  EXPECT_ERROR(join_all(std::array{0, 1, 0}), Code::kInvalidParam, "devices[0] is 0, which stands there twice");
  EXPECT_ERROR(join_all(std::array{0, 1000}), Code::kRtInvalidDevice, "1000");
  EXPECT_ERROR(join_all(std::array{-1}), Code::kRtInvalidDevice, "-1");
  EXPECT_ERROR(join_all({}), Code::kInvalidParam, "nRanks is 0");
}

TEST(Join, APartMayBeMadeAgainAndOfAPart) {
  const auto parents = join_all(std::array{0, 1});
  std::vector<std::string> names[2];
  const auto make = [&](uint32_t rank) {
    std::shared_ptr<Communicator> parent = parents[rank];
    for (int depth = 0; depth < 12; ++depth) {
      const auto first = join_part(*parent, std::array{0u, 1u}, UINT64_MAX, rank, {});
      const auto again = join_part(*parent, std::array{0u, 1u}, UINT64_MAX, rank, {});
      names[rank].push_back(first->group().uid);
      names[rank].push_back(again->group().uid);
      parent = again;
    }
  };
  {
    std::jthread other(make, 1);
    make(0);
  }
  EXPECT_EQ(names[0], names[1]);
  std::ranges::sort(names[0]);
  EXPECT_EQ(std::ranges::adjacent_find(names[0]), names[0].end());
}

TEST(Join, StrangersAtTheDoorDoNoHarm) {
  const Place place = start_registrar({"strangers", "127.0.0.1"}, soon());
  for (const char* text : {"5", "[]", "{}", "\"x\"", "{\"uid\":7}", "{\"uid\":\"strangers\"}",
                           "{\"uid\":\"strangers\",\"peer\":3,\"size\":-1,\"protocol\":\"x\"}", "no json", ""}) {
    const Socket socket = Socket::connected(place.address, place.port, soon());
    std::string greeting, answer;
    ASSERT_TRUE(socket && socket.receive(&greeting, soon()) && socket.send(text));
    EXPECT_TRUE(socket.receive(&answer, soon())) << text;
  }
  const Group group = register_rank(place, 1, {0, 0, getpid(), "here", "process", "socket"}, soon());
  EXPECT_EQ(group.peers.size(), 1u);
}

/// Two ports, one after the other, of which a program that never says a word holds the first.
std::pair<Socket, uint16_t> silent_port() {
  for (uint16_t port = 20000;; port += 2)
    if (Socket first = Socket::listener("127.0.0.1", port); first && Socket::listener("127.0.0.1", port + 1))
      return {std::move(first), port};
}

TEST(Join, AProgramThatHoldsAPortAndIsSilentStopsNobody) {
  const auto held = silent_port();
  const uint16_t port = held.second;
  start_registrar({"behind", "127.0.0.1", port, 2}, soon());
  const Peer own{0, 0, getpid(), "here", "process", "socket"};
  EXPECT_EQ(register_rank({"behind", "127.0.0.1", port, 2}, 1, own, soon()).peers.size(), 1u);
  const Deadline limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  EXPECT_ERROR(register_rank({"nobody", "127.0.0.1", port, 1}, 1, own, limit), Code::kRtInternal,
               "is held by another program");
}

TEST(Join, ARegistrarWhomNobodyAsksEndsAtItsDeadline) {
  const Deadline limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  const Place place = start_registrar({"alone", "127.0.0.1"}, limit);
  for (const Deadline until = soon(); Socket::connected(place.address, place.port, until);) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace
}  // namespace npu::comm
