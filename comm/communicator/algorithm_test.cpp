// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator/algorithm.h"

#include <gtest/gtest.h>

#include <cstring>

#include "comm/collective/collective.h"
#include "comm/communicator/comm_fixture.h"
#include "device/device_fixture.h"

namespace npu::comm {
namespace {

constexpr Element kFloat{DType::kFloat, 4};
constexpr uint64_t kMegabyte = 1 << 20;

Algorithm chosen(const char* text, const CollectiveDef& row, uint64_t bytes) {
  return AlgorithmChoice(text, "HCCL_ALGO").of(row, bytes, 4, shared_memory_costs(4));
}

TEST(AlgorithmChoice, NamesActWhereTheOperationCanBeDoneSo) {
  EXPECT_EQ(chosen("level0:star", named("all_reduce"), kMegabyte), Algorithm::kStar);
  EXPECT_EQ(chosen("level0:star;level1:H-D_R;level2:NHR", named("reduce"), 4), Algorithm::kStar);
  EXPECT_EQ(chosen("level0:fullmesh;level1:NA", named("all_reduce"), 4096), Algorithm::kFullMesh);
  EXPECT_EQ(chosen("level0:fullmesh;level1:fullmesh", named("all_reduce"), 4096), Algorithm::kFullMesh);
  EXPECT_NE(chosen("level0:fullmesh", named("all_reduce"), kMegabyte), Algorithm::kFullMesh);
  EXPECT_EQ(chosen("level0:mesh", named("all_gather"), kMegabyte), Algorithm::kNone);
  EXPECT_EQ(chosen("level0:mesh", named("all_reduce"), 0), Algorithm::kFullMesh);
  const char* const some = "allreduce=level0:mesh;level1:ring/reduce=level0:star/alltoall=level0:NA;level1:pairwise";
  EXPECT_EQ(chosen(some, named("all_reduce"), 4), Algorithm::kMesh);
  EXPECT_EQ(chosen(some, named("reduce"), 4), Algorithm::kStar);
  for (const uint64_t bytes : {uint64_t{4}, uint64_t{65536}, 64 * kMegabyte}) {
    EXPECT_EQ(chosen("", named("all_reduce"), bytes), cheapest(named("all_reduce"), bytes, 4, shared_memory_costs(4)));
    for (const char* vendors : {"level0:NA;level1:ring", "level0:ring;level1:fullmesh", "level0:doublering"})
      EXPECT_EQ(chosen(vendors, named("all_reduce"), bytes),
                cheapest(named("all_reduce"), bytes, 4, shared_memory_costs(4)))
          << vendors;
  }
}

TEST(AlgorithmChoice, WhatMakesNoSenseIsRefusedWithWhatWould) {
  const auto refuses = [](const char* text, const char* why) {
    EXPECT_ERROR(AlgorithmChoice(text, "HCCL_ALGO"), Code::kInvalidParam,
                 fmt::format("EI0001: HCCL_ALGO is '{}': {}", text, why));
    EXPECT_ERROR(AlgorithmChoice(text, "hcclAlgo"), Code::kInvalidParam, "Write level0:A;level1:B");
  };
  refuses("mesh", "'mesh' is not the level expected there");
  refuses("level0:tree", "'level0:tree' names no algorithm of that level");
  refuses("level0:NA;level1:mesh", "'level1:mesh' names no algorithm of that level");
  refuses("level1:ring", "'level1:ring' is not the level expected there");
  refuses("level0:NA;level1:ring;level2:NA;level3:NA", "'level3:NA' is not the level expected there");
  refuses("level0:mesh;", "'' is not the level expected there");
  refuses("sendrecv=level0:mesh", "'sendrecv' is no operation");
  refuses("level0:mesh/reduce=level0:star", "'level0:mesh' names no operation");
}

TEST(Algorithm, TheModelPrefersOnePassForLittleAndSlicesForMuch) {
  for (const uint32_t ranks : {2u, 4u, 8u}) {
    for (const Costs& costs : {shared_memory_costs(2), shared_memory_costs(16)}) {
      EXPECT_EQ(cheapest(named("all_reduce"), 4, ranks, costs), Algorithm::kFullMesh);
      EXPECT_EQ(cheapest(named("all_reduce"), 64 * kMegabyte, ranks, costs), Algorithm::kMesh);
      double before = 0;
      for (uint64_t bytes = 4; bytes <= 64 * kMegabyte; bytes *= 4) {
        const Expected all =
            expected(named("all_reduce"), cheapest(named("all_reduce"), bytes, ranks, costs), bytes, ranks, costs);
        EXPECT_GE(all.us, before);
        EXPECT_GE(all.us, all.limit_us);
        before = all.us;
      }
    }
  }
  EXPECT_EQ(cheapest(named("broadcast"), 4, 2, shared_memory_costs(2)), Algorithm::kNone);
}

// The sum of such numbers depends on the order in which they are added.
float element(uint32_t rank, uint64_t i) {
  return static_cast<float>((i * 2654435761u + rank * uint64_t{40503}) % 1000003) * (rank % 2 == 0 ? 1e-3F : -1e4F);
}

std::vector<float> result_of(const char* choice, bool to_all, uint64_t count, bool in_place, Over over) {
  detail::algorithms.override(choice);
  Ranks ranks(4, over);
  std::vector<Memory<float>> sent, received;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    sent.emplace_back(ranks[rank], count);
    received.emplace_back(ranks[rank], count);
    for (uint64_t i = 0; i < count; ++i) sent[rank][i] = element(rank, i), received[rank][i] = -1;
  }
  for (int round = 0; round < (in_place ? 1 : 3); ++round)
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      void* const to = (in_place ? sent : received)[rank].address();
      if (to_all)
        all_reduce(ranks[rank], ranks.stream(rank), sent[rank].address(), to, count, kFloat, ReduceOp::kSum);
      else
        reduce(ranks[rank], ranks.stream(rank), sent[rank].address(), to, count, kFloat, ReduceOp::kSum, 2);
    }
  ranks.expect_fine();
  detail::algorithms.override("");
  std::vector<float> out;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const Memory<float>& got = (in_place ? sent : received)[rank];
    if (to_all || rank == 2) out.insert(out.end(), got.data(), got.data() + count);
  }
  return out;
}

void all_ways_give_the_same_bits(bool to_all, uint64_t count) {
  const std::vector<float> model = result_of("", to_all, count, false, Over::kSharedMemory);
  for (uint32_t i = 0; i < count; ++i)
    ASSERT_EQ(model[i], ((element(0, i) + element(1, i)) + element(2, i)) + element(3, i));
  for (const Over over : {Over::kSharedMemory, Over::kQueues})
    for (const char* choice : {"", "level0:fullmesh", "level0:mesh", "level0:star"})
      for (const bool in_place : {false, true}) {
        const std::vector<float> got = result_of(choice, to_all, count, in_place, over);
        ASSERT_EQ(std::memcmp(got.data(), model.data(), model.size() * sizeof(float)), 0)
            << choice << (to_all ? ", all_reduce of " : ", reduce of ") << count << (in_place ? " in place" : "")
            << (over == Over::kQueues ? " over queues" : "");
      }
}

TEST(Algorithm, AllWaysGiveTheSameBits) {
  for (const bool to_all : {true, false})
    for (const uint64_t count : {1, 7, 1024, 1025, 70001}) all_ways_give_the_same_bits(to_all, count);
}

TEST(Algorithm, RanksThatChooseDifferentlyHearOfIt) {
  Group group{"different", "different", {}};
  for (uint32_t i = 0; i < 2; ++i)
    group.peers.push_back(
        {i, static_cast<int32_t>(i), getpid(), "here", HostService::get().process(), HostService::get().socket()});
  const auto board = std::make_shared<Board>(2, 2, group.uid);
  std::vector<std::jthread> ranks;
  for (uint32_t rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      const Options options{"", -1, AlgorithmChoice(rank == 0 ? "level0:mesh" : "level0:star", "HCCL_ALGO")};
      Communicator one(group, std::make_unique<SharedMemory>(group, rank, board, std::vector<std::shared_ptr<Link>>{}),
                       options);
      Memory<float> data(one, 5);
      EXPECT_ERROR(all_reduce(one, Lane::calling_thread(), data.address(), data.address(), 5, kFloat, ReduceOp::kSum),
                   Code::kInvalidParam, "HCCL_ALGO (or hcclAlgo) makes it mesh and star");
    });
}

}  // namespace
}  // namespace npu::comm
