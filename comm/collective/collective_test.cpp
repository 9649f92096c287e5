// SPDX-License-Identifier: Apache-2.0
// What holds for all collectives: order, types, memory, refusals; and over what they are all tested.
#include <array>
#include <bit>
#include <thread>

#include "comm/collective/collective_fixture.h"
#include "comm/core/order.h"
#include "device/memory/virtual.h"

namespace npu::comm {
namespace {

const auto kSizes = {1u, 2u, 3u, 4u, 8u};

std::vector<Setup> setups(Over over) {
  std::vector<Setup> out;
  for (const uint32_t size : kSizes) out.push_back({size, over});
  return out;
}
INSTANTIATE_TEST_SUITE_P(Sizes, Collective, testing::ValuesIn(setups(Over::kSharedMemory)));
INSTANTIATE_TEST_SUITE_P(Queues, Collective, testing::ValuesIn(setups(Over::kQueues)));
INSTANTIATE_TEST_SUITE_P(Hosts, Collective, testing::ValuesIn(setups(Over::kHosts)));

class OverEach : public testing::TestWithParam<Over> {};
class CollectiveOrder : public OverEach {};
class CollectiveTypes : public OverEach {};
class CollectiveMemory : public OverEach {};
class CollectiveRefusal : public OverEach {};
INSTANTIATE_TEST_SUITE_P(Over, CollectiveOrder, testing::Values(Over::kSharedMemory, Over::kQueues, Over::kHosts));
INSTANTIATE_TEST_SUITE_P(Over, CollectiveTypes, testing::Values(Over::kSharedMemory, Over::kQueues, Over::kHosts));
INSTANTIATE_TEST_SUITE_P(Over, CollectiveMemory, testing::Values(Over::kSharedMemory, Over::kQueues, Over::kHosts));
INSTANTIATE_TEST_SUITE_P(Over, CollectiveRefusal, testing::Values(Over::kSharedMemory, Over::kQueues, Over::kHosts));

TEST_P(CollectiveOrder, MessagesOfAPairArriveInTheOrderTheyWereSent) {
  Case test(2, GetParam());
  constexpr int kMany = 200;
  std::vector<Memory<int32_t>> sent, received;
  for (int i = 0; i < kMany; ++i) {
    const uint64_t count = i % 3 == 0 ? 1000 : 2;
    sent.emplace_back(test.ranks[0], count);
    received.emplace_back(test.ranks[1], count);
    sent.back()[0] = i;
    exchange(test.ranks[0], test.ranks.stream(0), {{false, sent.back().address(), count, kInt32, 1}});
    exchange(test.ranks[1], test.ranks.stream(1), {{true, received.back().address(), count, kInt32, 0}});
  }
  test.ranks.expect_fine();
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(received[i][0], i);
}

TEST_P(CollectiveOrder, ManyCallsInARowKeepTheirOrder) {
  Case test(4, GetParam());
  constexpr int kMany = 300;
  auto both = test.filled(2000);
  for (uint32_t r = 0; r < 4; ++r)
    for (uint64_t i = 0; i < 2000; ++i) both[r][i] = r == 0 ? 1 : 0;
  // After each call all ranks hold the same; the sum grows by four, and wraps.
  for (int i = 0; i < kMany; ++i)
    for (uint32_t r = 0; r < 4; ++r)
      all_reduce(test.ranks[r], test.ranks.stream(r), both[r].address(), both[r].address(), i % 2 == 0 ? 2000 : 500,
                 kInt32, ReduceOp::kMax);
  test.ranks.expect_fine();
  for (uint32_t r = 0; r < 4; ++r) EXPECT_EQ(both[r][1999], 1);
}

/// The sum of three ranks' elements, in the order of the ranks.
template <class T>
T in_order(T a, T b, T c) {
  return T((static_cast<float>(a) + static_cast<float>(b)) + static_cast<float>(c));
}
/// The same where the first and the last are on one host: what a host passes on is rounded.
template <class T>
T by_hosts(T a, T b, T c) {
  return T(static_cast<float>(T(static_cast<float>(a) + static_cast<float>(c))) + static_cast<float>(b));
}

template <class T>
auto bits_of(T value) {
  return std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
}

template <class T>
void sums_are_rounded_once(DType dtype, Over over, const Options& options, T (*sum)(T, T, T)) {
  Case test(3, over, options);
  for (const uint64_t count : {uint64_t{100}, uint64_t{9001}}) {
    std::vector<Memory<T>> send, recv;
    for (uint32_t r = 0; r < 3; ++r) {
      send.emplace_back(test.ranks[r], count);
      recv.emplace_back(test.ranks[r], count);
      for (uint64_t i = 0; i < count; ++i) send[r][i] = T(static_cast<float>(std::sin(r * 1000.0 + i)) * 100.0f);
    }
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      all_reduce(comm, stream, send[r].address(), recv[r].address(), count, {dtype, sizeof(T)}, ReduceOp::kSum);
    });
    for (uint32_t r = 0; r < 3; ++r)
      for (uint64_t i = 0; i < count; ++i) {
        const T wanted = sum(send[0][i], send[1][i], send[2][i]);
        ASSERT_EQ(bits_of(recv[r][i]), bits_of(wanted)) << i;
      }
  }
}

TEST_P(CollectiveTypes, HalvesAreSummedInFloatAndRoundedOnce) {
  const bool hosts = GetParam() == Over::kHosts;
  sums_are_rounded_once<Half>(DType::kHalf, GetParam(), {}, hosts ? by_hosts<Half> : in_order<Half>);
  sums_are_rounded_once<BFloat16>(DType::kBFloat16, GetParam(), {}, hosts ? by_hosts<BFloat16> : in_order<BFloat16>);
  sums_are_rounded_once<float>(DType::kFloat, GetParam(), {}, hosts ? by_hosts<float> : in_order<float>);
}

TEST(CollectiveHosts, FlatSumsHaveTheBitsOfOneHost) {
  Options flat;
  flat.algorithms = AlgorithmChoice("level0:NA;level1:flat", "the test");
  sums_are_rounded_once<Half>(DType::kHalf, Over::kHosts, flat, in_order<Half>);
  sums_are_rounded_once<BFloat16>(DType::kBFloat16, Over::kHosts, flat, in_order<BFloat16>);
  sums_are_rounded_once<float>(DType::kFloat, Over::kHosts, flat, in_order<float>);
}

TEST_P(CollectiveTypes, ANanOfAnyRankStays) {
  Case test(3, GetParam());
  constexpr uint64_t kCount = 30;
  for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kSum, ReduceOp::kProd}) {
    std::vector<Memory<float>> send, recv;
    for (uint32_t r = 0; r < 3; ++r) {
      send.emplace_back(test.ranks[r], kCount);
      recv.emplace_back(test.ranks[r], kCount);
      for (uint64_t i = 0; i < kCount; ++i) send[r][i] = i % 4 == r ? NAN : static_cast<float>(r + i);
    }
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      all_reduce(comm, stream, send[r].address(), recv[r].address(), kCount, kFloat, op);
    });
    // Every fourth element is a number on all ranks.
    for (uint32_t r = 0; r < 3; ++r)
      for (uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(std::isnan(recv[r][i]), i % 4 != 3) << static_cast<int>(op);
  }
}

TEST_P(CollectiveTypes, BytesOfAnyTypeAreMoved) {
  Case test(2, GetParam());
  constexpr uint64_t kCount = 777;
  auto send = test.filled(kCount * 4), recv = test.empty(kCount * 8);
  test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    all_gather(comm, stream, send[r].address(), recv[r].address(), kCount, {DType::kUndefined, 16});
  });
  for (uint64_t i = 0; i < kCount * 8; ++i)
    ASSERT_EQ(recv[1][i], value(static_cast<uint32_t>(i / (kCount * 4)), i % (kCount * 4)));
}

TEST_P(CollectiveMemory, BuffersInReservedRangesAreShownThroughCopies) {
  Case test(2, GetParam());
  const size_t bytes = 2 * device::kGranularity;
  std::vector<std::pair<void*, std::vector<void*>>> ranges;
  for (uint32_t r = 0; r < 2; ++r) {
    void* begin = device::reserve_address(bytes, 0, nullptr);
    std::vector<void*> handles;
    for (size_t at = 0; at < bytes; at += device::kGranularity) {
      handles.push_back(device::create_physical(test.ranks[r].device(), device::kGranularity));
      device::map_memory(static_cast<std::byte*>(begin) + at, device::kGranularity, 0, handles.back());
    }
    ranges.emplace_back(begin, handles);
  }
  const uint64_t count = bytes / 4;
  for (uint32_t r = 0; r < 2; ++r) {
    auto* data = static_cast<int32_t*>(device::resolve(ranges[r].first, bytes));
    for (uint64_t i = 0; i < count; ++i) data[i] = value(r, i);
  }
  test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    all_reduce(comm, stream, ranges[r].first, ranges[r].first, count, kInt32, ReduceOp::kSum);
  });
  for (uint32_t r = 0; r < 2; ++r) {
    const auto* data = static_cast<int32_t*>(device::resolve(ranges[r].first, bytes));
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(data[i], reduced(ReduceOp::kSum, 2, i));
  }
  for (auto& [begin, handles] : ranges) {
    for (size_t i = 0; i < handles.size(); ++i) {
      device::unmap_memory(static_cast<std::byte*>(begin) + i * device::kGranularity);
      device::free_physical(handles[i]);
    }
    device::release_address(begin);
  }
}

TEST_P(CollectiveRefusal, WrongArgumentsAreToldBeforeAnythingIsQueued) {
  Case test(2, GetParam());
  Memory<float> buffer(test.ranks[0], 16);
  Memory<float> elsewhere(test.ranks[1], 16);
  auto& comm = test.ranks[0];
  auto& stream = test.ranks.stream(0);
  int host = 0;
  EXPECT_ERROR(all_reduce(comm, stream, &host, buffer.address(), 1, kFloat, ReduceOp::kSum), Code::kRtParamInvalid,
               "sendBuf");
  EXPECT_ERROR(all_reduce(comm, stream, buffer.address(), buffer.address(), 17, kFloat, ReduceOp::kSum),
               Code::kRtParamInvalid, "ends 4 bytes before");
  EXPECT_ERROR(all_reduce(comm, stream, elsewhere.address(), buffer.address(), 16, kFloat, ReduceOp::kSum),
               Code::kRtParamInvalid, "memory of device 1");
  EXPECT_ERROR(broadcast(comm, stream, buffer.address(), 16, kFloat, 2), Code::kInvalidParam, "root is 2");
  EXPECT_ERROR(all_reduce(comm, stream, buffer.address(), buffer.address(), 1, {DType::kUndefined, 16}, ReduceOp::kSum),
               Code::kRtInternal, "cannot be reduced");
  EXPECT_ERROR(all_reduce(comm, stream, buffer.address(), buffer.address(), 1, kFloat, std::bit_cast<ReduceOp>(9u)),
               Code::kInvalidParam, "op is 9");
  EXPECT_ERROR(all_to_all(comm, stream, buffer.address(), buffer.address(), 1, kFloat), Code::kInvalidParam,
               "two buffers");
  EXPECT_EQ(comm.async_error(), 0);
}

/// What each rank shows before two sums, behind `same` that fit: null for a rank that shows nothing.
std::vector<std::string> summed_with(const std::vector<const char*>& other, Over over, uint64_t count = 16,
                                     int same = 1) {
  Case test(static_cast<uint32_t>(other.size()), over);
  auto buffer = test.filled(count);
  std::vector<std::string> heard(other.size());
  std::vector<std::jthread> threads;
  for (uint32_t r = 0; r < other.size(); ++r)
    threads.emplace_back([&, r] {
      Order order("step");
      for (int i = 0; i < same; ++i) order.add("sum", "[16]");
      if (other[r] != nullptr) order.add(other[r], "[?]");
      const Announcement announcement(other[r] == nullptr ? Announcement::ByGroup{}
                                                          : Announcement::ByGroup{{test.ranks[r].group().name, order}});
      try {
        for (int i = 0; i < 2; ++i)
          all_reduce(test.ranks[r], Lane::calling_thread(), buffer[r].address(), buffer[r].address(), count, kInt32,
                     ReduceOp::kSum);
      } catch (const Error& error) {
        heard[r] = error.message();
      }
    });
  threads.clear();
  return heard;
}

TEST_P(CollectiveRefusal, OrdersThatDifferAreHeardBeforeTheFirstCall) {
  for (const uint64_t count : {16U, 4999U, 100'003U})
    for (const std::string& heard : summed_with({"sum", "sum", "max"}, GetParam(), count)) {
      EXPECT_NE(heard.find("EI0005: the collectives of function step differ between ranks, at #2 of group"),
                std::string::npos)
          << heard;
      EXPECT_NE(heard.find("rank 0"), std::string::npos) << heard;
      EXPECT_NE(heard.find("has sum[?], rank 2"), std::string::npos) << heard;
      EXPECT_NE(heard.find("has max[?]. All ranks"), std::string::npos) << heard;
    }
}

TEST_P(CollectiveRefusal, OrdersMayBeLong) {
  for (const std::string& heard : summed_with({"sum", "sum"}, GetParam(), 16, 2000)) EXPECT_EQ(heard, "");
  for (const std::string& heard : summed_with({"sum", "max"}, GetParam(), 16, 2000))
    EXPECT_NE(heard.find("at #2001 of group"), std::string::npos) << heard;
}

TEST_P(CollectiveRefusal, OrdersAreComparedOnlyWhereTheyAreShown) {
  const std::vector<std::vector<const char*>> fine = {{"sum", "sum", "sum"}, {"sum", nullptr, "sum"}, {nullptr, "max"}};
  for (const auto& each : fine)
    for (const std::string& heard : summed_with(each, GetParam())) EXPECT_EQ(heard, "");
  for (const std::string& heard : summed_with({nullptr, "sum", "max"}, GetParam()))
    EXPECT_NE(heard.find("at #2 of group"), std::string::npos) << heard;
}

TEST_P(CollectiveRefusal, CallsThatDoNotFitNameBothRanks) {
  const auto run = [over = GetParam()](auto&& odd_call, const std::string& what, const std::string& usual,
                                       const std::string& odd) {
    // Between hosts the first two that hear of each other tell, the lower rank first.
    const bool either = over == Over::kHosts;
    const std::string text = what + " is " + usual + " and " + odd, turned = what + " is " + odd + " and " + usual;
    Case test(3, over);
    auto buffer = test.filled(2048);
    for (uint32_t r = 0; r < 3; ++r)
      if (r == 1)
        odd_call(test.ranks[r], test.ranks.stream(r), buffer[r].address());
      else
        all_reduce(test.ranks[r], test.ranks.stream(r), buffer[r].address(), buffer[r].address(), 16, kInt32,
                   ReduceOp::kSum);
    for (const std::string& heard : test.ranks.wait()) {
      EXPECT_NE(heard.find("EI0005"), std::string::npos) << heard;
      EXPECT_NE(heard.find("rank 1 (host here"), std::string::npos) << heard;
      EXPECT_TRUE(heard.find(text) != std::string::npos || (either && heard.find(turned) != std::string::npos))
          << heard;
    }
    EXPECT_EQ(test.ranks[0].async_error(), static_cast<int32_t>(Result::kParameter));
    EXPECT_ERROR(barrier(test.ranks[0], test.ranks.stream(0)), Code::kInvalidParam, what);  // it stays ended
  };
  run([](Communicator& c, device::Stream& s, void* b) { all_reduce(c, s, b, b, 17, kInt32, ReduceOp::kSum); }, "count",
      "16", "17");
  run([](Communicator& c, device::Stream& s, void* b) { all_reduce(c, s, b, b, 2048, kInt32, ReduceOp::kSum); },
      "count", "16", "2048");
  run([](Communicator& c, device::Stream& s, void* b) { all_reduce(c, s, b, b, 16, kFloat, ReduceOp::kSum); },
      "dataType", "int32", "float32");
  run([](Communicator& c, device::Stream& s, void* b) { all_reduce(c, s, b, b, 16, kInt32, ReduceOp::kMax); }, "op",
      "sum", "max");
  run([](Communicator& c, device::Stream& s, void* b) { broadcast(c, s, b, 16, kInt32, 0); }, "the operation",
      "all_reduce", "broadcast");
}

}  // namespace
}  // namespace npu::comm
