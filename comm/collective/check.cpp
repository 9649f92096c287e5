// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/check.h"

#include <algorithm>

#include "comm/collective/shown.h"
#include "comm/core/reduce.h"
#include "comm/core/soc_limit.h"
#include "device/memory/memory.h"
#include "ops/runner/observer.h"

namespace npu::comm {

void check_buffer(const Communicator& communicator, const void* buffer, uint64_t count, Element element,
                  const char* what) {
  if (count > UINT64_MAX / std::max(1u, element.bytes))
    fault(Result::kParameter, "EI0003: {} has {} elements, more than memory can hold", what, count);
  device::check_live(buffer, count * element.bytes, communicator.device(), what);
}

void check_rank(const Communicator& communicator, uint32_t rank, const char* what) {
  if (rank >= communicator.size())
    fault(Result::kParameter, "EI0003: {} is {}, but the communicator has ranks 0 to {}", what, rank,
          communicator.size() - 1);
}

void check_reduce(Element element, ReduceOp op) {
  if (static_cast<uint32_t>(op) > static_cast<uint32_t>(ReduceOp::kMin))
    fault(Result::kParameter, "EI0003: op is {}; it is 0 (sum), 1 (prod), 2 (max) or 3 (min)",
          static_cast<uint32_t>(op));
  if (element.dtype == DType::kUndefined || !can_reduce(element.dtype))
    fault(
        Result::kUnsupported,
        "EI0003: elements of {} cannot be reduced, only moved; reduce integers, float16, bfloat16, float32 or float64",
        element.dtype == DType::kUndefined ? "this dataType" : name_of(element.dtype));
}

uint64_t check_parts(const Communicator& communicator, const void* buffer, const std::vector<Extent>& parts,
                     Element element, const char* what) {
  uint64_t end = 0;
  for (const Extent& part : parts) {
    if (part.count == 0) continue;
    if (part.offset > UINT64_MAX - part.count)
      fault(Result::kParameter, "EI0003: a part of {} has {} elements at {}, more than memory can hold", what,
            part.count, part.offset);
    end = std::max(end, part.offset + part.count);
  }
  check_buffer(communicator, buffer, end, element, what);
  return end;
}

Slice slice_of(uint64_t count, uint32_t size, uint32_t rank) {
  constexpr uint64_t kStep = 64;
  const uint64_t steps = (count + kStep - 1) / kStep;
  const auto edge = [&](uint64_t part) { return std::min(count, steps * part / size * kStep); };
  return {edge(rank), edge(rank + 1)};
}

PerRank<const std::byte*> inputs_of(Meeting& meeting, const Slice& slice) {
  const uint64_t unit = meeting.call().element_bytes;
  PerRank<Part> parts;
  for (uint32_t i = 0; i < meeting.size(); ++i) parts[i] = {i, slice.begin * unit, slice.count() * unit};
  PerRank<const std::byte*> out;
  meeting.read({parts.data(), meeting.size()}, out.data());
  return out;
}

void share_out(Meeting& meeting, void (*reduce_slice)(Meeting&, const Slice&), void (*reduce_all)(Meeting&)) {
  const uint64_t count = meeting.call().count;
  switch (meeting.call().algorithm) {
    case Algorithm::kFullMesh: return reduce_all(meeting);
    case Algorithm::kStar: return meeting.idle() ? void() : reduce_slice(meeting, {0, count});
    default: return reduce_slice(meeting, slice_of(count, meeting.size(), meeting.rank()));
  }
}

bool past_cache(const Meeting& meeting) {
  const Call& call = meeting.call();
  return footprint(call.row(), call.bytes(), meeting.size()) >= kCacheBytes;
}

Call call_of(const CollectiveDef& row, Element element, uint64_t count, ReduceOp op, uint32_t root) {
  return {static_cast<uint16_t>(row.id),
          Algorithm::kNone,
          false,
          element.dtype,
          element.bytes,
          op,
          root,
          element.columns,
          count};
}

void meet(Communicator& communicator, Lane lane, Call call, const Buffers& buffers, Parts parts) {
  const CollectiveDef& row = call.row();
  check_soc_types(call);
  call.algorithm = communicator.algorithm(row, call.bytes());
  // Within an operator that meets ranks it is that operator's own affair.
  const bool alone = !lane.in_turn();
  communicator.launch_in_order(lane, row.name, [=, &communicator, &row, parts = std::move(parts)] {
    const auto run = [&] {
      Meeting meeting(communicator, call, buffers, parts);
      if (const auto body = meeting.hosts() == nullptr ? row.body : row.between) body(meeting);
      meeting.leave();
    };
    if (alone && ops::observed()) [[unlikely]]
      return show(communicator, row.name, std::vector<Shown>{{call, buffers}}, run);
    run();
  });
}

}  // namespace npu::comm
