// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "comm/collective/check.h"

namespace npu::comm {
namespace {

void take_unequal(Meeting& meeting) {
  std::byte* const output = meeting.output();
  const uint64_t unit = meeting.call().element_bytes;
  for (uint32_t i = 0; i < meeting.size(); ++i) {
    const uint32_t from = (meeting.rank() + i) % meeting.size();
    const Extent& sent = meeting.extents(from)[meeting.rank()];
    const Extent& received = meeting.received(from);
    if (sent.count != received.count)
      meeting.refuse(from,
                     fmt::format("this rank receives {} elements, and that rank sends {}", received.count, sent.count));
    if (sent.count > 0) meeting.take({from, sent.offset * unit, sent.count * unit}, output + received.offset * unit);
  }
}

// Equal parts need not be shown.
void take_equal(Meeting& meeting) {
  const uint64_t bytes = meeting.call().bytes();
  if (bytes == 0) return;
  std::byte* const output = meeting.output();
  for (uint32_t i = 0; i < meeting.size(); ++i) {
    const uint32_t from = (meeting.rank() + i) % meeting.size();
    meeting.take({from, meeting.rank() * bytes, bytes}, output + from * bytes);
  }
}

Work work(const Load& load) {
  return load.posted ? Work{4 * load.bytes * load.ranks, 0, 1} : Work{0, 2 * load.bytes * load.ranks, 2};
}

NPU_COLLECTIVE(kAllToAll, .id = 7, .name = "all_to_all", .algo_word = "alltoall", .sends_parts = true,
               .receives_parts = true, .work = work, .body = take_equal);
NPU_COLLECTIVE(kAllToAllV, .id = 10, .name = "all_to_all_v", .counts_agree = false, .posts = false, .sends_parts = true,
               .receives_parts = true, .body = take_unequal);
NPU_COLLECTIVE(kAllToAllVC, .id = 11, .name = "all_to_all_vc", .posts = false, .sends_parts = true,
               .receives_parts = true, .body = take_unequal);

void check_different(const void* send, const void* recv, const CollectiveDef& row) {
  if (send == recv && send != nullptr)
    fault(Result::kParameter, "EI0003: sendBuf and recvBuf are the same; {} needs two buffers", row.name);
}

void queue(Communicator& communicator, Lane lane, const CollectiveDef& row, const void* send, void* recv, Parts parts,
           Element element) {
  check_different(send, recv, row);
  const uint64_t outgoing = check_parts(communicator, send, parts.sent, element, "sendBuf");
  const uint64_t incoming = check_parts(communicator, recv, parts.received, element, "recvBuf");
  meet(communicator, lane, call_of(row, element, 0), {send, outgoing * element.bytes, recv, incoming * element.bytes},
       std::move(parts));
}

}  // namespace

void all_to_all(Communicator& communicator, Lane lane, const void* send, void* recv, uint64_t count, Element element) {
  check_different(send, recv, kAllToAll);
  if (count > UINT64_MAX / communicator.size())
    fault(Result::kParameter, "EI0003: a part has {} elements, more than memory can hold", count);
  const uint64_t all = count * communicator.size();
  check_buffer(communicator, send, all, element, "sendBuf");
  check_buffer(communicator, recv, all, element, "recvBuf");
  meet(communicator, lane, call_of(kAllToAll, element, count), {send, all * element.bytes, recv, all * element.bytes});
}

void all_to_all_v(Communicator& communicator, Lane lane, const void* send, std::vector<Extent> sent, void* recv,
                  std::vector<Extent> received, Element element) {
  queue(communicator, lane, kAllToAllV, send, recv, {std::move(sent), std::move(received)}, element);
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
  queue(communicator, lane, kAllToAllVC, send, recv, {std::move(sent), std::move(received)}, element);
}

}  // namespace npu::comm
