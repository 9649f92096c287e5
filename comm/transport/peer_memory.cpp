// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/peer_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "comm/fault.h"
#include "comm/transport/host_service.h"
#include "device/share.h"

namespace npu::comm {
namespace {

struct Mapped {
  std::byte* base;
  size_t bytes;
};

struct Table {
  std::mutex mutex;
  std::map<std::pair<std::string, uint64_t>, Mapped> mapped;  // by process and segment
};

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

Mapped map_segment(const Peer& peer, uint64_t segment) {
  const std::shared_ptr<Link> link = Link::to(peer);
  if (link == nullptr) fault(Result::kRemote, "EI0007: {} does not answer; its process has ended", describe(peer));
  size_t bytes = 0;
  const int fd = link->fetch_segment(segment, &bytes);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  const int error = errno;
  close(fd);
  if (base == MAP_FAILED)
    fault(Result::kMemory,
          "EI0007: the memory of {} ({} bytes) cannot be mapped ({}); lower ANYNPU_MEMORY, or check "
          "`ulimit -v`",
          describe(peer), bytes, std::strerror(error));
  madvise(base, bytes, MADV_DONTFORK);
  madvise(base, bytes, MADV_DONTDUMP);
  return {static_cast<std::byte*>(base), bytes};
}

Mapped segment_of(const Peer& peer, uint64_t segment) {
  if (peer.process == HostService::get().process()) {
    const device::Segment own = device::find_segment(segment);
    return {own.base, own.bytes};
  }
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  const auto [at, fresh] = known.mapped.try_emplace({peer.process, segment});
  if (!fresh) return at->second;
  try {
    return at->second = map_segment(peer, segment);
  } catch (...) {
    known.mapped.erase(at);
    throw;
  }
}

}  // namespace

std::byte* address_in(const Peer& peer, const BufferName& buffer) {
  if (buffer.segment == 0) return nullptr;
  const Mapped segment = segment_of(peer, buffer.segment);
  if (segment.base == nullptr || buffer.offset >= segment.bytes)
    fault(Result::kInternal, "{} names memory at {} of segment {}, which ends at {}", describe(peer), buffer.offset,
          buffer.segment, segment.bytes);
  return segment.base + buffer.offset;
}

BufferName name_of(const void* buffer, size_t bytes) {
  if (buffer == nullptr || bytes == 0) return {};
  const device::SharedRange range = device::share(buffer, bytes);
  return {range.segment, range.offset};
}

}  // namespace npu::comm
