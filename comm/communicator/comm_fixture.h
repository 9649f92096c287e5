// SPDX-License-Identifier: Apache-2.0
// Ranks as devices of this process, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "comm/communicator/communicator.h"
#include "comm/transport/queue_fixture.h"
#include "comm/transport/shared_memory/host_service.h"
#include "comm/transport/shared_memory/shared_memory.h"
#include "comm/transport/ucx/network.h"
#include "device/context/context.h"
#include "device/memory/memory.h"
#include "device/queue/stream.h"
#include "device/queue/stream_table.h"

namespace npu::comm {

/// The row of a collective by its name.
inline const CollectiveDef& named(std::string_view name) {
  const auto all = collectives();
  const auto found =
      std::ranges::find(all, name, [](const CollectiveDef* each) { return std::string_view(each->name); });
  return found == all.end() ? collective(0) : **found;
}

/// What lies between the ranks.
enum class Over { kSharedMemory, kQueues, kHosts };

inline void PrintTo(Over over, std::ostream* out) {
  *out << (over == Over::kQueues ? "queues" : over == Over::kHosts ? "hosts" : "shared memory");
}

/// Ranks on two or three hosts: of an odd number every other rank on the next host, else side by side.
inline std::string host_of(uint32_t rank, uint32_t size) {
  const uint32_t hosts = size < 5 ? 2 : 3;
  return std::to_string(size % 2 == 1 ? rank % hosts : rank * hosts / size);
}

class Ranks {
 public:
  explicit Ranks(uint32_t size, Over over = Over::kSharedMemory, const Options& options = {}) {
    static std::atomic<int> number{0};
    Group group{"test" + std::to_string(number++), "test", {}};
    for (uint32_t i = 0; i < size; ++i)
      group.peers.push_back({i, static_cast<int32_t>(i % 4), getpid(), "here", HostService::get().process(),
                             HostService::get().socket()});
    if (over == Over::kHosts)
      for (Peer& peer : group.peers) peer.domain = host_of(peer.rank, size), peer.address = Wire::open({}).address();
    const Hosts hosts = hosts_of(group);
    for (const auto& ranks : hosts.ranks)
      boards_.push_back(std::make_shared<Board>(static_cast<uint32_t>(ranks.size()), size, group.uid));
    const auto queues = std::make_shared<Queues>(size);
    for (uint32_t i = 0; i < size; ++i) {
      std::unique_ptr<Transport> transport;
      if (over == Over::kQueues)
        transport = std::make_unique<QueueTransport>(queues, i);
      else
        transport = std::make_unique<SharedMemory>(group_of_host(group, hosts, hosts.host_of[i]), hosts.place_of[i],
                                                   boards_[hosts.host_of[i]], std::vector<std::shared_ptr<Link>>{});
      if (over == Over::kHosts && hosts.count() > 1)
        transport = std::make_unique<Network>(
            group, i, std::unique_ptr<SharedMemory>(static_cast<SharedMemory*>(transport.release())), Wire::get());
      communicators_.push_back(std::make_unique<Communicator>(group, std::move(transport), options));
      device::set_device(static_cast<int>(i % 4));
      streams_.push_back(device::create_stream());
    }
    device::set_device(0);
  }
  ~Ranks() {
    for (void* stream : streams_) device::destroy_stream_force(stream);
    std::vector<std::jthread> leaving;
    for (auto& each : communicators_) leaving.emplace_back([&] { each.reset(); });
  }

  uint32_t size() const { return static_cast<uint32_t>(communicators_.size()); }
  Communicator& operator[](uint32_t rank) { return *communicators_[rank]; }
  device::Stream& stream(uint32_t rank) { return device::stream_from_handle(streams_[rank]); }
  /// Text of the fault on this rank's stream, "" for none.
  std::string wait(uint32_t rank) {
    try {
      stream(rank).synchronize(60'000);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }
  std::vector<std::string> wait() {
    std::vector<std::string> out;
    for (uint32_t i = 0; i < size(); ++i) out.push_back(wait(i));
    return out;
  }
  void expect_fine() {
    for (uint32_t i = 0; i < size(); ++i) EXPECT_EQ(wait(i), "") << "rank " << i;
  }

  /// It leaves before the others do.
  void destroy(uint32_t rank) { communicators_[rank].reset(); }

  /// Where they meet over shared memory.
  Board& board() { return *boards_[0]; }

 private:
  std::vector<std::shared_ptr<Board>> boards_;  // by host
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::vector<void*> streams_;
};

/// A block of a rank's device, as elements of T.
template <class T>
class Memory {
 public:
  Memory(Communicator& communicator, size_t count)
      : count_(count), block_(device::allocate(communicator.device(), std::max<size_t>(count, 1) * sizeof(T))) {}
  Memory(Memory&& other) noexcept : count_(other.count_), block_(std::exchange(other.block_, nullptr)) {}
  ~Memory() {
    if (block_ != nullptr) device::deallocate(block_);
  }
  T* data() const { return static_cast<T*>(device::resolve(block_, count_ * sizeof(T))); }
  void* address() const { return block_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) const { return data()[i]; }

 private:
  size_t count_;
  void* block_;
};

}  // namespace npu::comm
