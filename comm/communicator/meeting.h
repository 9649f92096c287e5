// SPDX-License-Identifier: Apache-2.0
// One collective while it runs: all ranks come, show what they ask and where their buffers are, work, and go when
// everybody is done. Small data is shown in the posts themselves; then nobody needs to wait at the end.
#pragma once

#include <array>
#include <vector>

#include "comm/communicator/communicator.h"

namespace npu::comm {

/// The two buffers of a call, in device memory; null where the call has none.
struct Buffers {
  const void* send = nullptr;
  uint64_t send_bytes = 0;
  void* recv = nullptr;
  uint64_t recv_bytes = 0;
};

/// How this rank parts its buffers where parts are of unequal size, by rank.
struct Parts {
  std::vector<Extent> sent;      ///< shown to the others
  std::vector<Extent> received;  ///< its own affair
};

class Meeting {
 public:
  /// Comes to the meeting: returns when all ranks have (in a star: at once, except for its centre). Raises EI0005 when
  /// their calls do not fit.
  Meeting(Communicator& communicator, const Call& call, const Buffers& buffers, const Parts& parts);
  /// Waits until the others are done with this rank's buffers. To be called last.
  void leave();

  uint32_t rank() const { return communicator_.rank(); }
  uint32_t size() const { return communicator_.size(); }
  const Call& call() const { return call_; }
  /// Whether the data lies in the posts: then input() of others is there and output() only of this rank.
  bool small() const { return small_; }
  /// Whether this rank has nothing to do: the centre of the star works.
  bool idle() const { return call_.algorithm == Algorithm::kStar && rank() != call_.root; }
  /// What `rank` sends. Null if it has nothing to send.
  const std::byte* input(uint32_t rank) const;
  /// Where `rank` receives. Whoever writes to another rank's output says so before with write_elsewhere().
  std::byte* output(uint32_t rank) const;
  /// How `rank` parts what it sends.
  const Extent* extents(uint32_t rank) const;
  /// The part of this rank's output for what `rank` sends.
  const Extent& received(uint32_t rank) const { return parts_.received[rank]; }
  /// The count that `rank` gave, where counts may differ.
  uint64_t sent(uint32_t rank) const { return post(rank).call.count; }
  void write_elsewhere();
  /// Ends the communicator: what ranks ask does not fit.
  [[noreturn]] void refuse(uint32_t other, const std::string& what);

 private:
  /// Device memory of this rank that stands in for a buffer whose memory cannot be shared in one piece.
  struct StandIn {
    void* memory = nullptr;
    ~StandIn();
  };
  void show();
  BufferName named(const void* buffer, uint64_t bytes, StandIn& stand_in);
  /// Each rank begins with its neighbour, so that they do not all look at the same line.
  uint32_t next(uint32_t i) const { return rank() + i < size() ? rank() + i : rank() + i - size(); }
  void come();
  void await(uint32_t other, Counter& counter, uint32_t target);
  void await_others(Counter& (*counter)(Row&, uint32_t parity), uint32_t target);
  void compare();
  void await_writers() const;
  Post& post(uint32_t rank) const;

  Communicator& communicator_;
  const Call call_;
  const Buffers buffers_;
  const Parts& parts_;
  const bool small_, tiny_;
  const uint32_t target_, parity_;  // of the phase in which all have come
  StandIn send_, recv_;
};

/// One place a rank, without asking for memory.
template <class T>
using PerRank = std::array<T, kMostRanks>;

/// Whether a call's data lies in the posts.
bool is_small(const Call& call, uint32_t ranks);

}  // namespace npu::comm
