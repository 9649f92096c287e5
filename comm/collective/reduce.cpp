// SPDX-License-Identifier: Apache-2.0
#include "comm/core/reduce.h"

#include "comm/collective/between.h"

namespace npu::comm {
namespace {

/// Works for the root, which may be this rank.
void reduce_slice(Meeting& meeting, const Slice& slice) {
  const Call& call = meeting.call();
  const auto inputs = inputs_of(meeting, slice);
  std::byte* const output =
      meeting.output({call.root, slice.begin * call.element_bytes, slice.count() * call.element_bytes});
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {&output, 1}, slice.count(), past_cache(meeting));
}

void reduce_all(Meeting& meeting) {
  const Call& call = meeting.call();
  if (meeting.rank() != call.root) return;
  const auto inputs = inputs_of(meeting, {0, call.count});
  std::byte* const output = meeting.output();
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {&output, 1}, call.count, false);
}

void reduce_shares(Meeting& meeting) { share_out(meeting, reduce_slice, reduce_all); }

// Each rank reduces a slice for the root; little data the root reduces for itself.
void reduce_hosts(Meeting& meeting) {
  const Call& call = meeting.call();
  const uint64_t unit = call.element_bytes;
  const auto slice = [&](uint32_t rank) {
    if (!meeting.small()) return slice_of(call.count, meeting.size(), rank);
    return rank == call.root ? Slice{0, call.count} : Slice{0, 0};
  };
  const std::vector<uint32_t>& host_of = meeting.hosts()->host_of;
  const auto passes = [&](uint32_t rank) { return host_of[rank] != host_of[call.root] && slice(rank).count() > 0; };
  const auto each_passing = [&](auto&& body) {
    for (uint32_t rank = 0; rank < meeting.size(); ++rank)
      if (passes(rank)) body(rank, slice(rank).begin * unit, slice(rank).count() * unit);
  };
  const uint32_t own = meeting.rank();
  if (own == call.root)
    each_passing([&](uint32_t rank, uint64_t offset, uint64_t bytes) {
      meeting.expect(rank, kResultStep, meeting.output() + offset, bytes);
    });
  const uint64_t offset = slice(own).begin * unit, bytes = slice(own).count() * unit;
  std::byte* to = nullptr;
  if (bytes > 0) to = passes(own) ? meeting.scratch(bytes) : meeting.output({call.root, offset, bytes});
  reduce_between(meeting, [&](uint32_t, uint32_t rank) { return Extent{slice(rank).begin, slice(rank).count()}; },
                 {&to, 1});
  if (passes(own)) meeting.pass(call.root, kResultStep, to, bytes);
  if (own == call.root)
    each_passing([&](uint32_t rank, uint64_t, uint64_t size) { meeting.await_passed(rank, kResultStep, size); });
}

Work work(const Load& load) {
  if (load.algorithm == Algorithm::kFullMesh) return {load.bytes * (load.ranks + 3), 0, 1};
  return load.algorithm == Algorithm::kMesh ? Work{0, load.bytes * (1 + 1 / load.ranks), 2}
                                            : Work{0, load.bytes * (load.ranks + 1), 1};
}

Passed passed(const LoadBetween& load) {
  const double others = load.hosts - 1, parts = load.flat ? load.ranks : 1;
  if (load.posted)  // what comes to the root
    return {1, parts * others, parts * others * load.bytes, load.bytes * (load.ranks + load.hosts + 2)};
  return {2, (parts + load.ranks) * others, (parts + 1) * load.bytes * others / load.hosts,
          load.bytes * (load.flat ? 1 : 1 + 2 / load.ranks)};
}

NPU_COLLECTIVE(kReduce, .id = 5, .name = "reduce", .algo_word = "reduce", .reduces = true, .has_root = true,
               .shares = true, .work = work, .passed = passed, .body = reduce_shares, .between = reduce_hosts);

}  // namespace

void reduce(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element,
            ReduceOp op, uint32_t root) {
  check_reduce(element, op);
  check_rank(communicator, root, "root");
  check_buffer(communicator, send, count, element, "sendBuf");
  const bool receives = communicator.rank() == root;
  if (receives) check_buffer(communicator, recv, count, element, "recvBuf");
  const Call call = call_of(kReduce, element, count, op, root);
  meet(communicator, lane, call, {send, call.bytes(), receives ? recv : nullptr, receives ? call.bytes() : 0});
}

}  // namespace npu::comm
