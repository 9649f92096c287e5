// SPDX-License-Identifier: Apache-2.0
// The memory in which the ranks of one communicator on one host meet: a memfd made by one of them and mapped by all.
// Each rank has a seat: what it asks and where its buffers are (two posts, used in turn, so that a rank may go on while
// others still read the last one), small data itself, and how far it is (phase). A channel for each ordered pair holds
// what one sends to the other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "comm/core/call.h"
#include "comm/core/counter.h"
#include "comm/transport/transport.h"

namespace npu::comm {

inline constexpr size_t kTinyBytes = 24;        ///< up to this many in the line in which the rank says that it has come
inline constexpr size_t kInlineMessage = 1024;  ///< the same for a message between two ranks

/// A buffer in its owner's device memory (device/memory/share.h); segment 0 where there is none.
struct BufferName {
  uint64_t segment = 0, offset = 0;
};

/// Whoever waits for `come` has fetched its line: what a small call needs stands there, too.
struct alignas(64) Post {
  Counter come;  ///< the phase in which this rank has come with it
  Call call;
  std::byte tiny[kTinyBytes];
  BufferName send, recv;
  alignas(64) std::byte data[kInlineBytes];
};
static_assert(offsetof(Post, send) == 64);

/// A call that others may read, for texts, while its rank goes on to the next.
class ToldCall {
 public:
  void set(const Call& call) {
    const uint32_t version = version_.load(std::memory_order_relaxed);
    std::array<uint64_t, kWords> words;
    std::memcpy(words.data(), &call, sizeof(call));
    version_.store(version + 1, std::memory_order_relaxed);
    // Who sees one of these sees that version, too.
    for (size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }
  /// The last one that was set; after some tries, while others are being set, perhaps parts of two.
  Call get() const {
    std::array<uint64_t, kWords> words{};
    for (int tries = 0; tries < 100; ++tries) {
      const uint32_t version = version_.load(std::memory_order_acquire);
      for (size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) break;
    }
    Call out;
    std::memcpy(static_cast<void*>(&out), words.data(), sizeof(out));
    return out;
  }

 private:
  static_assert(sizeof(Call) % sizeof(uint64_t) == 0);
  static constexpr size_t kWords = sizeof(Call) / sizeof(uint64_t);
  std::atomic<uint32_t> version_{0};  // odd while it is being set
  std::array<std::atomic<uint64_t>, kWords> words_{};
};

struct Seat {
  // Two cache lines each: neighbours are fetched together.
  alignas(128) Counter phase;     ///< meetings this rank has come to, and those it has left
  alignas(128) Counter writing;   ///< odd while it writes to memory of others
  alignas(128) Counter doorbell;  ///< rung when a message to this rank was posted, or one from it was taken
  alignas(128) std::atomic<uint32_t> calls{0};  ///< collectives begun
  std::atomic<uint32_t> here{0};                ///< 1: it has joined
  std::atomic<uint32_t> left{0};                ///< 1: it has left the communicator in peace
  std::atomic<int64_t> beat_ns{0};              ///< CLOCK_MONOTONIC of the last sign of life
  ToldCall last;                                ///< of the collectives begun
  Post posts[2];

  /// Wakes all that wait for this rank's collectives, so that they look around.
  void wake();
};

/// One direction between two ranks. The receiver takes messages in the order they were posted.
struct alignas(64) Channel {
  std::atomic<uint32_t> posted{0}, taken{0};  ///< messages so far
  Call call;
  BufferName buffer;
  alignas(64) std::byte data[kInlineMessage];
};

inline constexpr size_t kBoardSeatsAt = 4096;

class Board {
 public:
  /// A new one for so many ranks, which part what they send among `parts` ranks, those of other hosts with them. `uid`
  /// tells it from all others. Raises kMemory.
  Board(uint32_t ranks, uint32_t parts, std::string_view uid);
  /// The one that a peer made; takes the descriptor. Raises kInternal where it is of another make.
  Board(int fd, uint32_t ranks, uint32_t parts, std::string_view uid);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  uint32_t ranks() const { return ranks_; }
  /// Of this host, as the rank that made the board counts them: all ranks must choose alike.
  uint32_t processors() const;
  int file() const { return fd_; }
  Seat& seat(uint32_t rank) const { return reinterpret_cast<Seat*>(memory_ + kBoardSeatsAt)[rank]; }
  Channel& channel(uint32_t from, uint32_t to) const;
  /// The parts of its buffer that `rank` gives to each rank, of the post of that parity.
  Extent* extents(uint32_t rank, uint32_t parity) const;
  /// The text of its order (core/order.h), which goes with the post of that parity.
  void show_order(uint32_t rank, uint32_t parity, std::string_view text);
  std::string order(uint32_t rank, uint32_t parity) const;

  /// Ends the communicator for everybody, with a text; the first one to call this is heard.
  void abort(int32_t result, std::string_view text);
  bool aborted() const;
  Transport::Reason reason() const;

 private:
  struct Head;
  Head& head() const { return *reinterpret_cast<Head*>(memory_); }
  void map();
  char* order_at(uint32_t rank, uint32_t parity) const;
  void wake_all();

  uint32_t ranks_, parts_;
  int fd_ = -1;
  size_t bytes_;
  std::byte* memory_ = nullptr;
};

}  // namespace npu::comm
