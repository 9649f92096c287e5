// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/blob.h"

#include <map>
#include <mutex>

namespace npu::graph {
namespace {

constexpr size_t kLeast = size_t{64} << 10;  // smaller ones malloc serves as well

struct Kept {
  std::mutex mutex;
  std::multimap<size_t, std::unique_ptr<std::byte[]>> by_room;
  size_t bytes = 0;
};

// Never destroyed: streams may run tasks until the process is gone.
Kept& kept() {
  static Kept& instance = *new Kept;
  return instance;
}

/// The smallest that is kept with room for `count` bytes, and for not twice as many; nothing when there is none.
std::unique_ptr<std::byte[], BlobMemory> taken(size_t count) {
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().by_room.lower_bound(count);
  if (found == kept().by_room.end() || found->first / 2 > count) return {};
  const size_t room = found->first;
  std::unique_ptr<std::byte[], BlobMemory> bytes(found->second.release(), {room});
  kept().by_room.erase(found);
  kept().bytes -= room;
  return bytes;
}

}  // namespace

Blob::Blob(size_t count) : size(count) {
  if (count >= kLeast) bytes = taken(count);
  if (!bytes) bytes = {new std::byte[count], BlobMemory{count}};
}

void BlobMemory::operator()(std::byte* bytes) const {
  std::unique_ptr<std::byte[]> owned(bytes);
  if (room < kLeast) return;
  const std::lock_guard lock(kept().mutex);
  if (kept().bytes + room > kMostKeptBlobs) return;
  kept().by_room.emplace(room, std::move(owned));
  kept().bytes += room;
}

size_t kept_blobs() {
  const std::lock_guard lock(kept().mutex);
  return kept().bytes;
}

void free_kept_blobs() {
  const std::lock_guard lock(kept().mutex);
  kept().by_room.clear();
  kept().bytes = 0;
}

}  // namespace npu::graph
