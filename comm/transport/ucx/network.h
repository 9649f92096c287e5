// SPDX-License-Identifier: Apache-2.0
// Ranks on several hosts: those of this one share memory, and the wire leads to the others. A collective passes data
// between hosts in messages that carry its call, so whoever gets them knows whether they belong to its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "comm/core/group.h"
#include "comm/transport/shared_memory/shared_memory.h"
#include "comm/transport/transport.h"
#include "comm/transport/ucx/incoming.h"
#include "comm/transport/ucx/wire.h"

namespace npu::comm {

class Network final : public Transport, Wire::Receiver {
 public:
  /// `local` leads `rank` of `group` to the ranks of its host, which it counts from 0 on in their order. All peers of
  /// other hosts have an address.
  Network(const Group& group, uint32_t rank, std::unique_ptr<SharedMemory> local, Wire& wire);
  ~Network() override;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return static_cast<uint32_t>(hosts_.host_of.size()); }
  const Costs& costs() const override { return local_->costs(); }
  const Hosts* hosts() const override { return &hosts_; }

  void begin(uint32_t number) override;
  void come(const Offer& offer, bool waits, Watch& watch) override;
  const Call& call_of(uint32_t rank) const override { return local_->call_of(place(rank)); }
  const Extent* extents_of(uint32_t rank) const override { return local_->extents_of(place(rank)); }
  std::string order_of(uint32_t rank) const override;
  void read(std::span<const Part> parts, const std::byte** at) override;
  void take(const Part& part, std::byte* to) override { local_->take(here(part), to); }
  std::byte* write(const Part& part) override { return local_->write(here(part)); }
  void leave(uint32_t whose) override;
  void finish() override;
  void pass(uint32_t to, uint32_t step, const std::byte* data, uint64_t bytes) override;
  void expect(uint32_t from, uint32_t step, std::byte* to, uint64_t bytes, const Merge* with) override;
  uint64_t await_passed(uint32_t from, uint32_t step, Watch& watch) override;
  void await_sent(uint32_t to, uint32_t step) override;

  Sent send(uint32_t to, uint32_t number, const Call& call, const void* buffer, std::shared_ptr<void>& kept) override;
  bool taken(uint32_t to, uint32_t number) const override;
  const Call* message(uint32_t from, uint32_t number) const override;
  void receive(uint32_t from, uint32_t number, void* buffer) override;
  uint32_t doorbell() const override { return local_->doorbell(); }
  void await_doorbell(uint32_t heard, uint32_t whose, Watch& watch) override;

  Sight sight(uint32_t rank) const override;
  void join() override;
  void depart() override;
  void listen(OnLost lost) override;

  void abort(int32_t result, std::string_view text) override;
  bool aborted() const override { return local_->aborted(); }
  Reason reason() const override { return local_->reason(); }

 private:
  /// Data for a rank of another host. Larger data waits until it is wanted: what nobody takes would lie in memory.
  struct Outgoing {
    Head head;
    std::span<const std::byte> data;
    std::function<void()> then = nullptr;
    uint64_t sent = 0;
    std::vector<TransferPtr> pieces = {};

    bool begun() const { return !pieces.empty(); }
    bool all_sent() const { return begun() && sent == data.size(); }
    bool done() const {
      return all_sent() &&
             std::ranges::all_of(pieces, [](const TransferPtr& each) { return each->done && !each->failed; });
    }
    bool under_way() const {
      return std::ranges::any_of(pieces, [](const TransferPtr& each) { return !each->done; });
    }
    /// Nobody is told of the pieces that are still on their way.
    void forget() const {
      for (const TransferPtr& each : pieces) each->then = nullptr;
    }
  };
  /// An order that comes in pieces.
  struct Shown {
    std::string text;
    uint64_t came = 0;
    bool complete() const { return came == text.size(); }
  };
  /// A rank of another host.
  struct Far {
    Endpoint* endpoint = nullptr;
    Sight sight;
    uint32_t acknowledged = 0;             // messages to it that it has received
    std::map<uint32_t, Outgoing> posted;   // to it, by number
    std::map<uint32_t, Incoming> letters;  // from it, by number
    std::map<uint32_t, Shown> orders;      // from it, by the number of the collective
  };
  /// Asks about ranks of this host, which `local_` counts by their places.
  struct ByPlace final : Watch {
    explicit ByPlace(const std::vector<uint32_t>& of_host) : ranks(of_host) {}
    void look_around(uint32_t whose, int64_t waited_ms) override { watch->look_around(ranks[whose], waited_ms); }
    const std::vector<uint32_t>& ranks;
    Watch* watch = nullptr;
  };
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;  // number, rank, step

  bool is_here(uint32_t rank) const { return hosts_.host_of[rank] == hosts_.host_of[rank_]; }
  uint32_t place(uint32_t rank) const { return hosts_.place_of[rank]; }
  Part here(const Part& part) const { return {place(part.rank), part.offset, part.bytes}; }
  Head head(Head::What what, uint32_t to) const;
  std::vector<TransferPtr> tell_far(Head::What what);

  void arrived(const Head& head, std::span<const std::byte> data, uint64_t bytes, void* token) override;
  void lost(const Endpoint& endpoint) override;
  void beat() override;
  void show_order(std::string_view text);
  bool knows_order(uint32_t from) const;
  void await_orders(Watch& watch);
  Incoming& data_of(uint32_t number, uint32_t from, uint32_t step);
  void begin_sending(Outgoing& outgoing);
  void send_pieces(int count, Outgoing& outgoing);
  void go_on_sending(const Head& head);
  Outgoing* outgoing_of(bool message, uint32_t to, uint32_t number, uint32_t step);
  void announce(const Outgoing& outgoing);
  void want(Head::What what, uint32_t from, uint32_t number, uint32_t step);
  void wanted(const Head& head);
  void end_transfers();
  void forget_data();
  bool all_sent();
  void await_all_sent();
  void attend(bool on);

  const std::vector<Peer> peers_;
  const Hosts hosts_;
  const uint32_t rank_;
  const uint64_t group_;  // its number on the wire
  const Spin spin_;
  const std::unique_ptr<SharedMemory> local_;
  Wire& wire_;
  mutable std::vector<Far> far_;  // by rank
  std::map<Key, Incoming> data_;
  OnLost lost_;
  std::atomic<bool> departed_{false};

  // Of the collective that runs.
  ByPlace by_place_;
  Watch* watch_ = nullptr;
  Call call_;
  uint32_t next_ = 0, number_ = 0;
  bool attends_ = false;
  std::map<Key, Outgoing> sending_;
  std::set<Key> wanted_;  // by others, also of those to come
};

}  // namespace npu::comm
