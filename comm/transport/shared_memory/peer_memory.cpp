// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/shared_memory/peer_memory.h"

#include "comm/core/fault.h"
#include "comm/transport/shared_memory/host_service.h"
#include "device/memory/share.h"

namespace npu::comm {

std::byte* address_in(const Peer& peer, Link* link, const BufferName& buffer) {
  if (buffer.segment == 0) return nullptr;
  std::span<std::byte> segment;
  if (link != nullptr)
    segment = link->segment(buffer.segment);
  else if (const device::Segment own = device::find_segment(buffer.segment); own.base != nullptr)
    segment = {own.base, own.bytes};
  if (buffer.offset >= segment.size())
    fault(Result::kInternal, "{} names memory at {} of segment {}, which ends at {}", describe(peer), buffer.offset,
          buffer.segment, segment.size());
  return segment.data() + buffer.offset;
}

BufferName name_of(const void* buffer, size_t bytes) {
  if (buffer == nullptr || bytes == 0) return {};
  const device::SharedRange range = device::share(buffer, bytes);
  return {range.segment, range.offset};
}

}  // namespace npu::comm
