// SPDX-License-Identifier: Apache-2.0
// Ranks of one host: calls and small data lie on the board, larger data is read and written where it is, in the device
// memory of its owner. Only memory that is not part of an arena is copied first, to a stand-in.
#pragma once

#include <memory>
#include <vector>

#include "comm/core/group.h"
#include "comm/transport/shared_memory/board.h"
#include "comm/transport/transport.h"

namespace npu::comm {

class Link;

/// Of ranks on one host that share so many processors.
Costs shared_memory_costs(uint32_t processors);

class SharedMemory final : public Transport {
 public:
  /// `board` is shared by all ranks of `group`; `rank` is this one's. `links` lead to the other processes of the group.
  SharedMemory(const Group& group, uint32_t rank, std::shared_ptr<Board> board,
               std::vector<std::shared_ptr<Link>> links);
  ~SharedMemory() override;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return board_->ranks(); }
  const Costs& costs() const override { return costs_; }

  void begin(uint32_t number) override;
  void come(const Offer& offer, bool waits, Watch& watch) override;
  const Call& call_of(uint32_t rank) const override { return post(rank).call; }
  const Extent* extents_of(uint32_t rank) const override { return board_->extents(rank, parity_); }
  std::string order_of(uint32_t rank) const override {
    return call_of(rank).with_order ? board_->order(rank, parity_) : "";
  }
  void read(std::span<const Part> parts, const std::byte** at) override;
  void take(const Part& part, std::byte* to) override;
  std::byte* write(const Part& part) override;
  void leave(uint32_t whose) override;
  void finish() override;

  Sent send(uint32_t to, uint32_t number, const Call& call, const void* buffer, std::shared_ptr<void>& kept) override;
  bool taken(uint32_t to, uint32_t number) const override;
  const Call* message(uint32_t from, uint32_t number) const override;
  void receive(uint32_t from, uint32_t number, void* buffer) override;
  uint32_t doorbell() const override;
  void await_doorbell(uint32_t heard, uint32_t whose, Watch& watch) override;

  Sight sight(uint32_t rank) const override;
  void join() override;
  void depart() override;
  void listen(OnLost lost) override;

  void abort(int32_t result, std::string_view text) override { board_->abort(result, text); }
  bool aborted() const override { return board_->aborted(); }
  Reason reason() const override { return board_->reason(); }

  /// Rings this rank's own doorbell, for what comes another way.
  void ring() { own().doorbell.advance(); }

 private:
  friend struct Listeners;
  /// Each rank begins with its neighbour, so that they do not all look at the same line.
  uint32_t next(uint32_t i) const { return rank_ + i < size() ? rank_ + i : rank_ + i - size(); }
  Seat& own() const { return board_->seat(rank_); }
  Post& post(uint32_t rank) const { return board_->seat(rank).posts[parity_]; }
  void show(const Offer& offer);
  BufferName named(const void* buffer, uint64_t bytes, std::shared_ptr<void>& stand_in) const;
  std::byte* address(uint32_t rank, const BufferName& buffer) const;
  const std::byte* input(const Part& part) const;
  void await(uint32_t whose, Counter& counter, uint32_t target);
  void await_others(Counter& (*counter)(Seat&, uint32_t parity), uint32_t target);
  void await_writers() const;
  void start_writing();
  void stop_writing();
  void beat();

  const std::vector<Peer> peers_;
  const int device_;
  const uint32_t rank_;
  const std::shared_ptr<Board> board_;
  std::vector<std::shared_ptr<Link>> links_;
  std::vector<Link*> link_of_;  // by rank; null for this process
  const Costs costs_;
  const Spin spin_;
  OnLost lost_;

  // Of the collective that runs.
  Watch* watch_ = nullptr;
  bool small_ = false, tiny_ = false;
  uint32_t target_ = 0, parity_ = 0;  // of the phase in which all have come
  Buffers buffers_;
  std::shared_ptr<void> send_stand_in_, recv_stand_in_;
};

}  // namespace npu::comm
