// SPDX-License-Identifier: Apache-2.0
// Every collective over ranks of this process, on data that tells rank and position, against plain loops.
#include "comm/collective/collective.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "comm/communicator/comm_fixture.h"
#include "device/device_fixture.h"
#include "device/virtual_memory.h"

namespace npu::comm {
namespace {

constexpr Element kInt32{DType::kInt32, 4};
constexpr Element kFloat{DType::kFloat, 4};

/// Small sizes, both sides of what fits into a post, odd ones, and one that goes past the cache.
const std::vector<uint64_t> kCounts = {0, 1, 3, 1023, 1024, 1025, 4999, 100'003};

int32_t value(uint32_t rank, uint64_t i) { return static_cast<int32_t>(rank * 7919 + i * 31 + (i >> 7)); }

struct Case {
  explicit Case(uint32_t size) : ranks(size) {}

  std::vector<Memory<int32_t>> filled(uint64_t count) {
    std::vector<Memory<int32_t>> out;
    for (uint32_t r = 0; r < ranks.size(); ++r) {
      out.emplace_back(ranks[r], count);
      for (uint64_t i = 0; i < count; ++i) out[r][i] = value(r, i);
    }
    return out;
  }
  std::vector<Memory<int32_t>> empty(uint64_t count) {
    std::vector<Memory<int32_t>> out;
    for (uint32_t r = 0; r < ranks.size(); ++r) {
      out.emplace_back(ranks[r], count);
      for (uint64_t i = 0; i < count; ++i) out[r][i] = -1;
    }
    return out;
  }
  template <class F>
  void on_each(F&& body) {
    for (uint32_t r = 0; r < ranks.size(); ++r) body(r, ranks[r], ranks.stream(r));
    ranks.expect_fine();
  }
  Ranks ranks;
};

int32_t reduced(ReduceOp op, uint32_t size, uint64_t i) {
  auto sum = static_cast<uint32_t>(value(0, i));
  for (uint32_t r = 1; r < size; ++r) {
    const int32_t next = value(r, i), now = static_cast<int32_t>(sum);
    if (op == ReduceOp::kSum) sum += static_cast<uint32_t>(next);
    if (op == ReduceOp::kProd) sum *= static_cast<uint32_t>(next);
    if (op == ReduceOp::kMax) sum = static_cast<uint32_t>(std::max(now, next));
    if (op == ReduceOp::kMin) sum = static_cast<uint32_t>(std::min(now, next));
  }
  return static_cast<int32_t>(sum);
}

class Collective : public testing::TestWithParam<uint32_t> {};

TEST_P(Collective, AllReduceGivesEveryRankTheResult) {
  Case test(GetParam());
  for (const uint64_t count : kCounts)
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin}) {
      auto send = test.filled(count), recv = test.empty(count);
      test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
        all_reduce(comm, stream, send[r].address(), recv[r].address(), count, kInt32, op);
      });
      for (uint32_t r = 0; r < GetParam(); ++r)
        for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[r][i], reduced(op, GetParam(), i)) << count << " at " << i;
    }
}

TEST_P(Collective, AllReduceInPlace) {
  Case test(GetParam());
  for (const uint64_t count : kCounts) {
    auto both = test.filled(count);
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      all_reduce(comm, stream, both[r].address(), both[r].address(), count, kInt32, ReduceOp::kSum);
    });
    for (uint32_t r = 0; r < GetParam(); ++r)
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(both[r][i], reduced(ReduceOp::kSum, GetParam(), i));
  }
}

TEST_P(Collective, ReduceReachesTheRootOnly) {
  Case test(GetParam());
  for (const uint64_t count : kCounts) {
    const uint32_t root = GetParam() - 1;
    auto send = test.filled(count), recv = test.empty(count);
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      reduce(comm, stream, send[r].address(), r == root ? recv[r].address() : nullptr, count, kInt32, ReduceOp::kSum,
             root);
    });
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[root][i], reduced(ReduceOp::kSum, GetParam(), i));
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[0][i], root == 0 ? recv[0][i] : -1);
  }
}

TEST_P(Collective, BroadcastCopiesTheRoot) {
  Case test(GetParam());
  for (const uint64_t count : kCounts)
    for (uint32_t root = 0; root < GetParam(); ++root) {
      auto buffer = test.filled(count);
      test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
        broadcast(comm, stream, buffer[r].address(), count, kInt32, root);
      });
      for (uint32_t r = 0; r < GetParam(); ++r)
        for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(buffer[r][i], value(root, i));
    }
}

TEST_P(Collective, ReduceScatterGivesEachItsPart) {
  Case test(GetParam());
  for (const uint64_t count : kCounts) {
    auto send = test.filled(count * GetParam()), recv = test.empty(count);
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      reduce_scatter(comm, stream, send[r].address(), recv[r].address(), count, kInt32, ReduceOp::kSum);
    });
    for (uint32_t r = 0; r < GetParam(); ++r)
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[r][i], reduced(ReduceOp::kSum, GetParam(), r * count + i));
  }
}

TEST_P(Collective, ReduceScatterInPlace) {
  Case test(GetParam());
  constexpr uint64_t kCount = 3001;
  auto both = test.filled(kCount * GetParam());
  test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    auto* own = static_cast<int32_t*>(both[r].address()) + r * kCount;
    reduce_scatter(comm, stream, both[r].address(), own, kCount, kInt32, ReduceOp::kSum);
  });
  for (uint32_t r = 0; r < GetParam(); ++r)
    for (uint64_t i = r * kCount; i < (r + 1) * kCount; ++i)
      ASSERT_EQ(both[r][i], reduced(ReduceOp::kSum, GetParam(), i));
}

TEST_P(Collective, AllGatherJoinsAll) {
  Case test(GetParam());
  for (const uint64_t count : kCounts) {
    auto send = test.filled(count), recv = test.empty(count * GetParam());
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      all_gather(comm, stream, send[r].address(), recv[r].address(), count, kInt32);
    });
    for (uint32_t r = 0; r < GetParam(); ++r)
      for (uint64_t i = 0; i < count * GetParam(); ++i)
        ASSERT_EQ(recv[r][i], value(static_cast<uint32_t>(i / count), i % count));
  }
}

TEST_P(Collective, ScatterPartsTheRoot) {
  Case test(GetParam());
  for (const uint64_t count : kCounts) {
    auto send = test.filled(count * GetParam()), recv = test.empty(count);
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      scatter(comm, stream, r == 0 ? send[r].address() : nullptr, recv[r].address(), count, kInt32, 0);
    });
    for (uint32_t r = 0; r < GetParam(); ++r)
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[r][i], value(0, r * count + i));
  }
}

TEST_P(Collective, AllToAllTransposes) {
  Case test(GetParam());
  for (const uint64_t count : kCounts) {
    auto send = test.filled(count * GetParam()), recv = test.empty(count * GetParam());
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      all_to_all(comm, stream, send[r].address(), recv[r].address(), count, kInt32);
    });
    for (uint32_t r = 0; r < GetParam(); ++r)
      for (uint64_t i = 0; i < count * GetParam(); ++i)
        ASSERT_EQ(recv[r][i], value(static_cast<uint32_t>(i / count), r * count + i % count));
  }
}

/// Rank `from` sends this many elements to `to`; some pairs nothing.
uint64_t parts(uint32_t from, uint32_t to) { return (from * 5 + to * 3) % 7 * 401; }

TEST_P(Collective, AllToAllVMovesPartsOfAnySize) {
  Case test(GetParam());
  const uint32_t size = GetParam();
  auto send = test.filled(7 * 401 * size), recv = test.empty(7 * 401 * size);
  std::vector<uint64_t> matrix(size_t{size} * size);
  for (uint32_t a = 0; a < size; ++a)
    for (uint32_t b = 0; b < size; ++b) matrix[a * size + b] = parts(a, b);
  const auto before = [&](uint32_t from, uint32_t to, bool row) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < (row ? to : from); ++i) sum += row ? parts(from, i) : parts(i, to);
    return sum;
  };
  for (const bool by_matrix : {false, true}) {
    test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
      std::vector<Extent> sent(size), received(size);
      for (uint32_t i = 0; i < size; ++i) {
        sent[i] = {before(r, i, true), parts(r, i)};
        received[i] = {before(i, r, false), parts(i, r)};
      }
      if (by_matrix)
        all_to_all_vc(comm, stream, send[r].address(), matrix, recv[r].address(), kInt32);
      else
        all_to_all_v(comm, stream, send[r].address(), sent, recv[r].address(), received, kInt32);
    });
    for (uint32_t r = 0; r < size; ++r)
      for (uint32_t from = 0; from < size; ++from)
        for (uint64_t i = 0; i < parts(from, r); ++i)
          ASSERT_EQ(recv[r][before(from, r, false) + i], value(from, before(from, r, true) + i));
  }
}

TEST_P(Collective, PartsOfUnequalSizeAreGatheredAndReduced) {
  Case test(GetParam());
  const uint32_t size = GetParam();
  std::vector<Extent> extents(size);
  uint64_t all = 0;
  for (uint32_t i = 0; i < size; ++i) extents[i] = {all, i * 700 + 3}, all += extents[i].count + 5;  // with gaps
  auto send = test.filled(all), gathered = test.empty(all), reduced_parts = test.empty(all);
  test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    all_gather_v(comm, stream, send[r].address(), extents[r].count, gathered[r].address(), extents, kInt32);
    reduce_scatter_v(comm, stream, send[r].address(), extents, reduced_parts[r].address(), extents[r].count, kInt32,
                     ReduceOp::kSum);
  });
  for (uint32_t r = 0; r < size; ++r) {
    for (uint32_t from = 0; from < size; ++from) {
      for (uint64_t i = 0; i < extents[from].count; ++i)
        ASSERT_EQ(gathered[r][extents[from].offset + i], value(from, i));
      for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(gathered[r][extents[from].offset + extents[from].count + i], -1);
    }
    for (uint64_t i = 0; i < extents[r].count; ++i)
      ASSERT_EQ(reduced_parts[r][i], reduced(ReduceOp::kSum, size, extents[r].offset + i));
  }
}

TEST_P(Collective, PartsMayLieElsewhereOnEachRank) {
  Case test(GetParam());
  const uint32_t size = GetParam();
  // Rank r keeps its parts in reverse when r is odd, and each has gaps of its own.
  std::vector<std::vector<Extent>> extents(size, std::vector<Extent>(size));
  uint64_t all = 0;
  for (uint32_t r = 0; r < size; ++r) {
    uint64_t end = r;
    for (uint32_t k = 0; k < size; ++k) {
      const uint32_t part = r % 2 == 0 ? k : size - 1 - k;
      extents[r][part] = {end, part * 700 + 3};
      end += extents[r][part].count + r;
    }
    all = std::max(all, end);
  }
  auto send = test.filled(all), recv = test.empty(all);
  test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    reduce_scatter_v(comm, stream, send[r].address(), extents[r], recv[r].address(), extents[r][r].count, kInt32,
                     ReduceOp::kMax);
  });
  for (uint32_t r = 0; r < size; ++r)
    for (uint64_t i = 0; i < extents[r][r].count; ++i) {
      int32_t most = INT32_MIN;
      for (uint32_t from = 0; from < size; ++from) most = std::max(most, value(from, extents[from][r].offset + i));
      ASSERT_EQ(recv[r][i], most);
    }
}

TEST_P(Collective, MessagesGoRound) {
  Case test(GetParam());
  const uint32_t size = GetParam();
  for (const uint64_t count : {uint64_t{0}, uint64_t{5}, uint64_t{256}, uint64_t{257}, uint64_t{50'001}}) {
    auto send = test.filled(count), recv = test.empty(count);
    for (int round = 0; round < 3; ++round)
      test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
        exchange(comm, stream,
                 {{false, send[r].address(), count, kInt32, (r + 1) % size},
                  {true, recv[r].address(), count, kInt32, (r + size - 1) % size}});
      });
    for (uint32_t r = 0; r < size; ++r)
      for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(recv[r][i], value((r + size - 1) % size, i));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collective, testing::Values(1, 2, 3, 4, 8));

TEST(CollectiveOrder, MessagesOfAPairArriveInTheOrderTheyWereSent) {
  Case test(2);
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

TEST(CollectiveOrder, ManyCallsInARowKeepTheirOrder) {
  Case test(4);
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

template <class T>
void sums_are_rounded_once(DType dtype) {
  Case test(3);
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
        const float sum =
            (static_cast<float>(send[0][i]) + static_cast<float>(send[1][i])) + static_cast<float>(send[2][i]);
        const T wanted(sum);
        ASSERT_EQ(std::memcmp(&recv[r][i], &wanted, sizeof(T)), 0) << i;
      }
  }
}

TEST(CollectiveTypes, HalvesAreSummedInFloatAndRoundedOnce) {
  sums_are_rounded_once<Half>(DType::kHalf);
  sums_are_rounded_once<BFloat16>(DType::kBFloat16);
  sums_are_rounded_once<float>(DType::kFloat);
}

TEST(CollectiveTypes, ANanOfAnyRankStays) {
  Case test(3);
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

TEST(CollectiveTypes, BytesOfAnyTypeAreMoved) {
  Case test(2);
  constexpr uint64_t kCount = 777;
  auto send = test.filled(kCount * 4), recv = test.empty(kCount * 8);
  test.on_each([&](uint32_t r, Communicator& comm, device::Stream& stream) {
    all_gather(comm, stream, send[r].address(), recv[r].address(), kCount, {DType::kUndefined, 16});
  });
  for (uint64_t i = 0; i < kCount * 8; ++i)
    ASSERT_EQ(recv[1][i], value(static_cast<uint32_t>(i / (kCount * 4)), i % (kCount * 4)));
}

TEST(CollectiveMemory, BuffersInReservedRangesAreShownThroughCopies) {
  Case test(2);
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

TEST(CollectiveRefusal, WrongArgumentsAreToldBeforeAnythingIsQueued) {
  Case test(2);
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
  EXPECT_ERROR(all_reduce(comm, stream, buffer.address(), buffer.address(), 1, kFloat, static_cast<ReduceOp>(9)),
               Code::kInvalidParam, "op is 9");
  EXPECT_ERROR(all_to_all(comm, stream, buffer.address(), buffer.address(), 1, kFloat), Code::kInvalidParam,
               "two buffers");
  EXPECT_EQ(comm.async_error(), 0);
}

TEST(CollectiveRefusal, CallsThatDoNotFitNameBothRanks) {
  struct Wrong {
    Call other;
    const char* text;
  };
  const auto run = [](auto&& odd_call, const char* text) {
    Case test(3);
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
      EXPECT_NE(heard.find(text), std::string::npos) << heard;
    }
    EXPECT_EQ(test.ranks[0].async_error(), static_cast<int32_t>(Result::kParameter));
    EXPECT_ERROR(barrier(test.ranks[0], test.ranks.stream(0)), Code::kInvalidParam, text);  // it stays ended
  };
  run([](Communicator& c, device::Stream& s, void* b) { all_reduce(c, s, b, b, 17, kInt32, ReduceOp::kSum); },
      "count is 16 and 17");
  run([](Communicator& c, device::Stream& s, void* b) { all_reduce(c, s, b, b, 2048, kInt32, ReduceOp::kSum); },
      "count is 16 and 2048");
  run([](Communicator& c, device::Stream& s, void* b) { all_reduce(c, s, b, b, 16, kFloat, ReduceOp::kSum); },
      "dataType is int32 and float32");
  run([](Communicator& c, device::Stream& s, void* b) { all_reduce(c, s, b, b, 16, kInt32, ReduceOp::kMax); },
      "op is sum and max");
  run([](Communicator& c, device::Stream& s, void* b) { broadcast(c, s, b, 16, kInt32, 0); },
      "the operation is all_reduce and broadcast");
}

}  // namespace
}  // namespace npu::comm
