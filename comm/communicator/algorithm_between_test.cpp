// SPDX-License-Identifier: Apache-2.0
// The model of collectives between hosts against what they do: three hosts with two ranks each.
#include <array>
#include <map>
#include <thread>

#include "comm/collective/collective_fixture.h"
#include "comm/communicator/algorithm.h"
#include "comm/core/carried.h"

namespace npu::comm {
namespace {

constexpr uint32_t kHosts = 3, kRanks = 2, kAll = kHosts * kRanks;
constexpr NetworkCosts kNetwork{25, 3, 2900};

using Body = void (*)(Communicator&, void* send, void* recv, uint64_t count);
const std::map<std::string, Body> kBodies = {
    {"all_reduce",
     [](Communicator& c, void* send, void* recv, uint64_t count) {
       all_reduce(c, Lane::calling_thread(), send, recv, count, kInt32, ReduceOp::kSum);
     }},
    {"reduce", [](Communicator& c, void* send, void* recv,
                  uint64_t count) { reduce(c, Lane::calling_thread(), send, recv, count, kInt32, ReduceOp::kSum, 2); }},
    {"reduce_scatter",
     [](Communicator& c, void* send, void* recv, uint64_t count) {
       reduce_scatter(c, Lane::calling_thread(), send, recv, count, kInt32, ReduceOp::kSum);
     }},
    {"all_gather", [](Communicator& c, void* send, void* recv,
                      uint64_t count) { all_gather(c, Lane::calling_thread(), send, recv, count, kInt32); }},
    {"broadcast", [](Communicator& c, void* send, void*,
                     uint64_t count) { broadcast(c, Lane::calling_thread(), send, count, kInt32, 2); }},
    {"all_to_all", [](Communicator& c, void* send, void* recv,
                      uint64_t count) { all_to_all(c, Lane::calling_thread(), send, recv, count, kInt32); }},
    {"scatter", [](Communicator& c, void* send, void* recv,
                   uint64_t count) { scatter(c, Lane::calling_thread(), send, recv, count, kInt32, 2); }},
};

/// Of the busiest host, and of the busiest rank.
struct Seen {
  double bytes = 0, messages = 0;
};

Seen passed_in(Body body, bool flat, uint64_t count) {
  Options options;
  options.algorithms = AlgorithmChoice(flat ? "level0:NA;level1:flat" : "", "HCCL_ALGO");
  Case test(kAll, Over::kHosts, options);
  auto send = test.filled(count * kAll), recv = test.empty(count * kAll);
  std::vector<std::map<std::pair<uint32_t, uint32_t>, Carried::Sum>> sums(kAll);
  std::vector<std::jthread> ranks;
  for (uint32_t r = 0; r < kAll; ++r)
    ranks.emplace_back([&, r] {
      const Carried carried;
      body(test.ranks[r], send[r].address(), recv[r].address(), count);
      sums[r] = carried.sums();
    });
  ranks.clear();
  std::array<double, kHosts> out{}, in{};
  std::array<double, kAll> sent{}, got{};
  for (const auto& its : sums)
    for (const auto& [pair, sum] : its) {
      const auto [from, to] = pair;
      if (from / kRanks == to / kRanks) continue;
      out[from / kRanks] += static_cast<double>(sum.bytes), in[to / kRanks] += static_cast<double>(sum.bytes);
      sent[from] += static_cast<double>(sum.pieces), got[to] += static_cast<double>(sum.pieces);
    }
  return {std::max(std::ranges::max(out), std::ranges::max(in)),
          std::max(std::ranges::max(sent), std::ranges::max(got))};
}

TEST(AlgorithmBetween, TheModelKnowsWhatCrossesTheNetwork) {
  for (const auto& [name, body] : kBodies)
    for (const uint64_t count : {uint64_t{8}, uint64_t{9600}, uint64_t{96'000}})  // slices of the latter are alike
      for (const bool flat : {false, true}) {
        const Passed model = named(name).passed({4.0 * static_cast<double>(count), kHosts, kRanks, count == 8, flat});
        const Seen seen = passed_in(body, flat, count);
        EXPECT_NEAR(model.bytes, seen.bytes, 1e-6 * seen.bytes) << name << " of " << count << (flat ? ", flat" : "");
        EXPECT_EQ(model.messages, seen.messages) << name << " of " << count << (flat ? ", flat" : "");
      }
}

TEST(AlgorithmBetween, TimesGrowWithBytesAndHostsAndAreNeverLessThanTheCardNeeds) {
  for (const CollectiveDef* row : collectives()) {
    if (row->passed == nullptr) continue;
    for (const bool flat : {false, true}) {
      double of_fewer = 0;
      for (const uint32_t hosts : {2u, 8u, 64u}) {
        double before = 0;
        for (uint64_t bytes = 65536; bytes <= 64 << 20; bytes *= 8) {
          const Expected all = expected_between(*row, flat, bytes, 8, hosts, shared_memory_costs(8), kNetwork);
          EXPECT_GT(all.us, before) << row->name;
          EXPECT_GT(all.us, all.limit_us) << row->name;
          before = all.us;
        }
        EXPECT_GT(before, of_fewer) << row->name;
        of_fewer = before;
      }
    }
  }
}

TEST(AlgorithmBetween, PlansNeedARankForEachHost) {
  EXPECT_EQ(plans(8, 2, kNetwork).size(), plans(8).size());
  EXPECT_EQ(plans(8, 1, kNetwork)[0].algorithm, plans(8)[0].algorithm);
  for (const Plan& plan : plans(9, 4, kNetwork)) EXPECT_EQ(plan.algorithm, Algorithm::kHosts);
  EXPECT_ERROR(plans(2, 3, kNetwork), Code::kInvalidParam, "not for 2 on 3");
  EXPECT_ERROR(plans(2, 0, kNetwork), Code::kInvalidParam, "not for 2 on 0");
  EXPECT_ERROR(plans(1025, 2, kNetwork), Code::kInvalidParam, "up to 1024 ranks");
}

}  // namespace
}  // namespace npu::comm
