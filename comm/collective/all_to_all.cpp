// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "comm/collective/check.h"
#include "comm/core/reduce.h"

namespace npu::comm {
namespace {

void take_parts(Meeting& meeting, const std::vector<Extent>& received) {
  std::byte* const output = meeting.output(meeting.rank());
  const uint64_t unit = meeting.call().element_bytes;
  for (uint32_t i = 0; i < meeting.size(); ++i) {
    const uint32_t from = (meeting.rank() + i) % meeting.size();
    const Extent& sent = meeting.extents(from)[meeting.rank()];
    if (sent.count != received[from].count)
      meeting.refuse(from, fmt::format("this rank receives {} elements, and that rank sends {}", received[from].count,
                                       sent.count));
    if (sent.count > 0)
      copy(output + received[from].offset * unit, meeting.input(from) + sent.offset * unit, sent.count * unit);
  }
}

void check_different(const void* send, const void* recv, Kind kind) {
  if (send == recv && send != nullptr)
    fault(Result::kParameter, "EI0003: sendBuf and recvBuf are the same; {} needs two buffers", name_of(kind));
}

// Equal parts need not be shown.
void take_equal_parts(Meeting& meeting) {
  const uint64_t bytes = meeting.call().bytes();
  if (bytes == 0) return;
  std::byte* const output = meeting.output(meeting.rank());
  for (uint32_t i = 0; i < meeting.size(); ++i) {
    const uint32_t from = (meeting.rank() + i) % meeting.size();
    copy(output + from * bytes, meeting.input(from) + meeting.rank() * bytes, bytes);
  }
}

void queue(Communicator& communicator, Lane lane, Kind kind, uint64_t count, const void* send, std::vector<Extent> sent,
           void* recv, std::vector<Extent> received, Element element) {
  check_different(send, recv, kind);
  const uint64_t outgoing = check_parts(communicator, send, sent, element, "sendBuf");
  const uint64_t incoming = check_parts(communicator, recv, received, element, "recvBuf");
  const Call call{kind, element.dtype, element.bytes, ReduceOp::kSum, 0, {}, count};
  meet(communicator, lane, call, {send, outgoing * element.bytes, recv, incoming * element.bytes}, std::move(sent),
       [received = std::move(received)](Meeting& meeting) { take_parts(meeting, received); });
}

}  // namespace

void all_to_all(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element) {
  check_different(send, recv, Kind::kAllToAll);
  if (count > UINT64_MAX / communicator.size())
    fault(Result::kParameter, "EI0003: a part has {} elements, more than memory can hold", count);
  const uint64_t all = count * communicator.size();
  check_buffer(communicator, send, all, element, "sendBuf");
  check_buffer(communicator, recv, all, element, "recvBuf");
  const Call call{Kind::kAllToAll, element.dtype, element.bytes, ReduceOp::kSum, 0, {}, count};
  meet(communicator, lane, call, {send, all * element.bytes, recv, all * element.bytes}, {}, take_equal_parts);
}

void all_to_all_v(Communicator& communicator, Lane lane, const void* send, std::vector<Extent> sent, void* recv,
                  std::vector<Extent> received, Element element) {
  queue(communicator, lane, Kind::kAllToAllV, 0, send, std::move(sent), recv, std::move(received), element);
}

void all_to_all_vc(Communicator& communicator, Lane lane, const void* send, std::span<const uint64_t> matrix,
                   void* recv, Element element) {
  const uint32_t size = communicator.size(), rank = communicator.rank();
  std::vector<Extent> sent(size), received(size);
  uint64_t sent_before = 0, received_before = 0;
  for (uint32_t i = 0; i < size; ++i) {
    sent[i] = {sent_before, matrix[size_t{rank} * size + i]};
    received[i] = {received_before, matrix[size_t{i} * size + rank]};
    sent_before += sent[i].count;
    received_before += received[i].count;
  }
  queue(communicator, lane, Kind::kAllToAllVC, 0, send, std::move(sent), recv, std::move(received), element);
}

}  // namespace npu::comm
