// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "comm/collective/between.h"
#include "comm/core/reduce.h"

namespace npu::comm {
namespace {

void reduce_part(Meeting& meeting, const Extent& part) {
  if (part.count == 0) return;
  const Call& call = meeting.call();
  const auto inputs = inputs_of(meeting, {part.offset, part.offset + part.count});
  std::byte* const output = meeting.output();
  reduce(call.dtype, call.reduce, {inputs.data(), meeting.size()}, {&output, 1}, part.count, past_cache(meeting));
}

void compare_parts(Meeting& meeting) {
  const Extent* own = meeting.extents(meeting.rank());
  for (const uint32_t other : meeting.here())
    for (uint32_t i = 0; i < meeting.size(); ++i)
      if (meeting.extents(other)[i].count != own[i].count)
        meeting.refuse(other,
                       fmt::format("sendCounts[{}] is {} and {}", i, own[i].count, meeting.extents(other)[i].count));
}

void reduce_equal(Meeting& meeting) {
  reduce_part(meeting, {meeting.rank() * meeting.call().count, meeting.call().count});
}

// Ranks may place the parts differently: each input has its own offset.
void reduce_unequal(Meeting& meeting) {
  compare_parts(meeting);
  const Call& asked = meeting.call();
  if (asked.count == 0) return;
  PerRank<Part> parts;
  for (uint32_t i = 0; i < meeting.size(); ++i)
    parts[i] = {i, meeting.extents(i)[meeting.rank()].offset * asked.element_bytes, asked.bytes()};
  PerRank<const std::byte*> inputs;
  meeting.read({parts.data(), meeting.size()}, inputs.data());
  std::byte* const output = meeting.output();
  reduce(asked.dtype, asked.reduce, {inputs.data(), meeting.size()}, {&output, 1}, asked.count, past_cache(meeting));
}

void reduce_equal_hosts(Meeting& meeting) {
  const uint64_t count = meeting.call().count;
  std::byte* const output = meeting.output();
  reduce_between(meeting, [&](uint32_t, uint32_t to) { return Extent{to * count, count}; }, {&output, 1});
}

void reduce_unequal_hosts(Meeting& meeting) {
  compare_parts(meeting);
  std::byte* const output = meeting.output();
  reduce_between(meeting, [&](uint32_t from, uint32_t to) { return meeting.extents(from)[to]; }, {&output, 1});
}

Work work(const Load& load) {
  return load.posted ? Work{load.bytes * (3 * load.ranks + 1), 0, 1} : Work{0, load.bytes * (load.ranks + 1), 2};
}

Passed passed(const LoadBetween& load) {
  const double others = load.hosts - 1, parts = load.flat ? load.ranks : 1;
  const double read = load.flat ? load.hosts * load.ranks : load.hosts * (load.ranks + 2);
  return {1, parts * others, parts * load.ranks * others * load.bytes, load.bytes * (read + 1)};
}

NPU_COLLECTIVE(kReduceScatter, .id = 2, .name = "reduce_scatter", .algo_word = "reducescatter", .reduces = true,
               .sends_parts = true, .work = work, .passed = passed, .body = reduce_equal,
               .between = reduce_equal_hosts);
NPU_COLLECTIVE(kReduceScatterV, .id = 9, .name = "reduce_scatter_v", .reduces = true, .counts_agree = false,
               .posts = false, .sends_parts = true, .body = reduce_unequal, .between = reduce_unequal_hosts);

}  // namespace

void reduce_scatter(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count,
                    Element element, ReduceOp op) {
  check_reduce(element, op);
  check_buffer(communicator, recv, count, element, "recvBuf");
  const uint64_t all = count * communicator.size();
  check_buffer(communicator, send, all, element, "sendBuf");
  const Call call = call_of(kReduceScatter, element, count, op);
  meet(communicator, lane, call, {send, all * element.bytes, recv, call.bytes()});
}

void reduce_scatter_v(Communicator& communicator, Lane lane, const void* send, std::vector<Extent> parts, void* recv,
                      uint64_t count, Element element, ReduceOp op) {
  check_reduce(element, op);
  const uint64_t all = check_parts(communicator, send, parts, element, "sendBuf");
  check_buffer(communicator, recv, count, element, "recvBuf");
  const uint32_t rank = communicator.rank();
  if (parts[rank].count != count)
    fault(Result::kParameter, "EI0003: recvCount is {}, but sendCounts[{}], this rank's, is {}", count, rank,
          parts[rank].count);
  const Call call = call_of(kReduceScatterV, element, count, op);
  meet(communicator, lane, call, {send, all * element.bytes, recv, call.bytes()}, {std::move(parts), {}});
}

}  // namespace npu::comm
