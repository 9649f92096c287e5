// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "comm/collective/between.h"
#include "comm/collective/exchanged_sums.h"
#include "comm/core/reduce.h"

namespace npu::comm {
namespace {

/// Reduces a slice of everybody's data and writes it to everybody. Nobody else touches that slice, so the buffers may
/// be the same.
void reduce_slice(Meeting& meeting, const Slice& slice) {
  const Call& call = meeting.call();
  const uint64_t unit = call.element_bytes;
  const auto inputs = inputs_of(meeting, slice);
  PerRank<std::byte*> outputs;
  for (uint32_t i = 0; i < meeting.size(); ++i)
    outputs[i] = meeting.output({(meeting.rank() + i) % meeting.size(), slice.begin * unit, slice.count() * unit});
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {outputs.data(), meeting.size()}, slice.count(),
         past_cache(meeting));
}

// Everybody reduces everything for itself.
void reduce_all(Meeting& meeting) {
  const Call& call = meeting.call();
  const auto inputs = inputs_of(meeting, {0, call.count});
  std::byte* const output = meeting.output();
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {&output, 1}, call.count, false);
}

void reduce_shares(Meeting& meeting) { share_out(meeting, reduce_slice, reduce_all); }

// Each rank reduces a slice for all; little data it reduces for itself.
void reduce_hosts(Meeting& meeting) {
  const uint64_t count = meeting.call().count, unit = meeting.call().element_bytes;
  if (meeting.small()) {
    std::byte* const output = meeting.output();
    return reduce_between(meeting, [&](uint32_t, uint32_t) { return Extent{0, count}; }, {&output, 1});
  }
  if (exchanges_sums(meeting)) return exchange_sums(meeting);
  const auto elements = [&](uint32_t rank) { return slice_of(count, meeting.size(), rank); };
  const auto slice = [&](uint32_t rank) {
    const Slice its = elements(rank);
    return Part{rank, its.begin * unit, its.count() * unit};
  };
  std::byte* const output = meeting.output();
  const Part own = slice(meeting.rank());
  each_served(meeting, [&](uint32_t rank) {
    const Part its = slice(rank);
    if (its.bytes > 0) meeting.expect(rank, kResultStep, output + its.offset, its.bytes);
  });
  std::vector<std::byte*> outputs;
  for (const uint32_t rank : meeting.here()) outputs.push_back(meeting.output({rank, own.offset, own.bytes}));
  reduce_between(
      meeting, [&](uint32_t, uint32_t to) { return Extent{elements(to).begin, elements(to).count()}; }, outputs);
  if (own.bytes > 0)
    each_server(meeting, [&](uint32_t rank) { meeting.pass(rank, kResultStep, output + own.offset, own.bytes); });
  each_served(meeting, [&](uint32_t rank) {
    const Part its = slice(rank);
    if (its.bytes == 0) return;
    meeting.await_passed(rank, kResultStep, its.bytes);
    hand_on(meeting, its.offset, its.bytes);
  });
}

Work work(const Load& load) {
  if (load.algorithm == Algorithm::kFullMesh) return {load.bytes * (load.ranks + 3), 0, 1};
  return load.algorithm == Algorithm::kMesh ? Work{0, 2 * load.bytes, 2} : Work{0, 2 * load.bytes * load.ranks, 1};
}

Passed passed(const LoadBetween& load) {
  const double others = load.hosts - 1, parts = load.flat ? load.ranks : 1;
  const double all = load.hosts * load.ranks;
  if (load.posted)  // every rank makes the sum of its host for each that it serves
    return {1, parts * others, parts * load.ranks * others * load.bytes,
            load.bytes * (load.flat ? all + 1 : load.hosts * (load.ranks + 2) + 1)};
  if (!load.flat && exchanges_sums(static_cast<uint64_t>(load.bytes), static_cast<uint32_t>(load.hosts)))
    return {1, others, others * load.bytes, load.bytes * (2 + (load.hosts + 1) / load.ranks)};
  return {2, (parts + 1) * others, (parts + 1) * load.bytes * others / load.hosts,
          2 * load.bytes * (load.flat ? 1 : 1 + 1 / load.ranks)};
}

NPU_COLLECTIVE(kAllReduce, .id = 3, .name = "all_reduce", .algo_word = "allreduce", .reduces = true, .shares = true,
               .work = work, .passed = passed, .body = reduce_shares, .between = reduce_hosts);

}  // namespace

void all_reduce(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
                ReduceOp op) {
  check_reduce(element, op);
  check_buffer(communicator, send, count, element, "sendBuf");
  check_buffer(communicator, recv, count, element, "recvBuf");
  const Call call = call_of(kAllReduce, element, count, op);
  meet(communicator, lane, call, {send, call.bytes(), recv, call.bytes()});
}

}  // namespace npu::comm
