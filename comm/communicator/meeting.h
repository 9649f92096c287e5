// SPDX-License-Identifier: Apache-2.0
// One collective while it runs: all ranks come, show what they ask and where their buffers are, work, and go when
// everybody is done. Small data is shown in the posts themselves; then nobody needs to wait at the end.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator/communicator.h"
#include "comm/communicator/scratch.h"
#include "comm/core/carried.h"
#include "comm/core/order.h"

namespace npu::comm {

/// How this rank parts its buffers where parts are of unequal size, by rank.
struct Parts {
  std::vector<Extent> sent;      ///< shown to the others
  std::vector<Extent> received;  ///< its own affair
};

class Meeting : Watch {
 public:
  /// Comes to the meeting: returns when all ranks have (in a star: at once, except for its centre). Raises EI0005 when
  /// their calls do not fit.
  Meeting(Communicator& communicator, const Call& call, const Buffers& buffers, const Parts& parts);
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  /// Waits until the others are done with this rank's buffers. To be called last.
  void leave();

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  const Call& call() const { return call_; }
  /// Whether the data lies in the posts: then ranks write to no output but their own.
  bool small() const { return small_; }
  /// Whether this rank has nothing to do: the centre of the star works.
  bool idle() const { return call_.algorithm == Algorithm::kStar && rank() != call_.root; }

  /// Where parts of what ranks send lie for this one.
  void read(std::span<const Part> parts, const std::byte** at) {
    for (const Part& part : parts) Carried::add(part.rank, rank_, part.bytes);
    transport_.read(parts, at);
  }
  /// Brings a part of what `part.rank` sends to `to`, at the latest when this rank leaves.
  void take(const Part& part, std::byte* to) {
    Carried::add(part.rank, rank_, part.bytes);
    transport_.take(part, to);
  }
  /// Where this rank receives.
  std::byte* output() const;
  /// Where to write a part of what a rank receives.
  std::byte* output(const Part& part) const;
  /// Null where all ranks share memory; else only those of here() are read, taken from and written to.
  const Hosts* hosts() const { return hosts_; }
  std::span<const uint32_t> here() const { return communicator_.near(); }
  /// Memory for what is on its way, as long as the meeting lasts.
  std::byte* scratch(uint64_t bytes) { return scratch_.take(bytes); }
  /// Data from and to ranks of other hosts (Transport::pass, expect).
  void pass(uint32_t to, uint32_t step, const std::byte* data, uint64_t bytes) {
    Carried::add(rank_, to, bytes);
    transport_.pass(to, step, data, bytes);
  }
  void expect(uint32_t from, uint32_t step, std::byte* to, uint64_t bytes, const Merge* with = nullptr) {
    transport_.expect(from, step, to, bytes, with);
  }
  /// Waits for data of a rank; `whose` it is, if that rank passes another's. Ends the communicator where it passed
  /// others than the expected bytes.
  void await_passed(uint32_t from, uint32_t step, uint64_t bytes, uint32_t whose = kNoRank);
  /// Returns when what was passed so is not needed any more.
  void await_sent(uint32_t to, uint32_t step) { transport_.await_sent(to, step); }
  /// How `rank` parts what it sends.
  const Extent* extents(uint32_t rank) const { return transport_.extents_of(rank); }
  /// The part of this rank's output for what `rank` sends.
  const Extent& received(uint32_t rank) const { return parts_.received[rank]; }
  /// The count that `rank` gave, where counts may differ.
  uint64_t sent(uint32_t rank) const { return transport_.call_of(rank).count; }
  /// Ends the communicator: what ranks ask does not fit.
  [[noreturn]] void refuse(uint32_t other, const std::string& what);

 private:
  /// Ends it for the transport, also when it has failed. Where all data went with the posts nothing was kept.
  struct Attendance {
    Transport& transport;
    const bool kept;
    ~Attendance() {
      if (kept) transport.finish();
    }
  };
  void look_around(uint32_t whose, int64_t waited_ms) override;
  void compare();
  void compare_orders();
  void compare_far(uint32_t other, int64_t waited_ms);
  [[noreturn]] void differ(uint32_t one, const Call& its, uint32_t other, const Call& others);

  Communicator& communicator_;
  Transport& transport_;
  const uint32_t rank_, size_;
  const Hosts* const hosts_;
  const std::unique_ptr<const Order> order_;  ///< null for most
  const Call call_;
  const Buffers buffers_;
  const Parts& parts_;
  const bool small_;
  Scratch scratch_;
  const Attendance attendance_;
};

/// One place a rank, without asking for memory.
template <class T>
using PerRank = std::array<T, kMostRanks>;

/// Whether a call's data lies in the posts.
bool is_small(const Call& call, uint32_t ranks, const Hosts* hosts = nullptr);

}  // namespace npu::comm
