// SPDX-License-Identifier: Apache-2.0
// Data that a rank of another host sends, which comes in pieces: what has come of it, and where it goes. Each piece is
// a sign of life of its sender, whose messages wait behind it on a slow network.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "comm/core/reduce.h"
#include "comm/transport/ucx/wire.h"

namespace npu::comm {

/// All of it in the wire's lock.
class Incoming {
 public:
  Incoming(Wire& wire, Endpoint& from) : wire_(wire), from_(from) {}
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;
  /// What still lies with its sender is dropped.
  ~Incoming();

  /// A piece has come, as Wire::Receiver::arrived() gets it.
  void add(const Head& head, std::span<const std::byte> data, uint64_t bytes, void* token);
  /// Where it goes, and what it is combined with there unless `with` is null, if it is of a call that fits `call`.
  /// Other data stays where it is, and so does what has another size.
  void expect(const Call& call, std::byte* to, uint64_t bytes, const Merge* with);
  /// Brings to its place what has come. Not to be called while UCX calls back.
  void settle();

  /// Whether anything has come; then the next two are known.
  bool came() const { return came_; }
  const Call& call() const { return call_; }
  uint64_t bytes() const { return bytes_; }
  /// Whether all is in its place, or cannot be because it has another size.
  bool there() const;
  /// Whether UCX writes to the place.
  bool under_way() const;
  Endpoint& from() const { return from_; }

 private:
  struct Piece {
    uint64_t offset, bytes;
    std::vector<std::byte> held;
    void* token;
  };
  void put(uint64_t offset, std::span<const std::byte> data);
  void fetch(const Piece& piece);
  bool fits_place() const { return came_ && expected_ && bytes_ == room_ && fits(call_, expected_call_); }

  Wire& wire_;
  Endpoint& from_;
  Call call_, expected_call_;
  bool came_ = false, expected_ = false;
  uint64_t bytes_ = 0, room_ = 0, placed_ = 0;  // in all, for which there is room, that are where they belong
  std::byte* to_ = nullptr;
  std::optional<Merge> with_;
  std::vector<Piece> waiting_;
  std::vector<TransferPtr> fetched_;
};

}  // namespace npu::comm
