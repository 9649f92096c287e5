// SPDX-License-Identifier: Apache-2.0
// What lies between the ranks of a communicator, as one of them sees it: to show a call and to see those of others, to
// read what a rank sends, to write where it receives, to wait, and to hear that somebody has ended. Collectives know
// addresses of their own rank only; what they get of others they ask for here. Shared memory (shared_memory/) hands out
// addresses; a network fetches and delivers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "comm/core/call.h"
#include "comm/core/group.h"
#include "comm/core/reduce.h"

namespace npu::comm {

/// Data up to this many bytes goes with the post itself; larger data stays where it is until it is asked for.
inline constexpr size_t kInlineBytes = 4096;
inline constexpr uint32_t kMostRanks = 1024;  ///< of one communicator
inline constexpr uint32_t kEveryRank = 0xFFFFFFFF, kNoRank = 0xFFFFFFFE;

/// What things cost, for the model of algorithm.h.
struct Costs {
  uint32_t processors;         ///< that the ranks share
  double call_us;              ///< of each rank, whatever the call
  double names_us;             ///< to find where others have their buffers
  double meet_us;              ///< until a rank sees that another has come
  double switch_us;            ///< the same, when it must get a processor first
  double posted_bytes_per_us;  ///< read and written, through the posts
  double cached_bytes_per_us;  ///< the same where buffers are
  double memory_bytes_per_us;  ///< the same past the cache
};

/// The same of the way between hosts, each of which has one card that its ranks share.
struct NetworkCosts {
  double latency_us;    ///< until a message's first byte is there
  double message_us;    ///< of a processor, for each that a rank sends and the one it gets for it
  double bytes_per_us;  ///< of a card, each way at once
};

/// The two buffers of a call, in device memory; null where the call has none.
struct Buffers {
  const void* send = nullptr;
  uint64_t send_bytes = 0;
  void* recv = nullptr;
  uint64_t recv_bytes = 0;
};

/// What a rank comes to a collective with.
struct Offer {
  const Call& call;
  const Buffers& buffers;           ///< others have to do with them until this rank has left
  std::span<const Extent> extents;  ///< how it parts what it sends; empty for none
  bool small;                       ///< the data goes with the post
  uint64_t most_bytes;              ///< that any rank sends; the same for all
  std::string_view order;           ///< its text, where the call has one
};

/// A piece of what one rank sends or receives.
struct Part {
  uint32_t rank;
  uint64_t offset, bytes;
};

/// Who is asked while a rank waits: before it sleeps, and then at least every 50 ms. Ends the wait by throwing.
class Watch {
 public:
  /// `whose`: the rank waited for.
  virtual void look_around(uint32_t whose, int64_t waited_ms) = 0;

 protected:
  ~Watch() = default;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;
  /// The same on all ranks: they must choose alike.
  virtual const Costs& costs() const = 0;

  // ---- Collectives, one after the other.

  /// The collective of this number, from 1 on, begins; others tell it in texts.
  virtual void begin(uint32_t number) = 0;
  /// Shows the offer to all. Returns when all have come, or at once where this rank does not wait for that (`waits`).
  /// `watch` is asked in this and the next functions, up to finish().
  virtual void come(const Offer& offer, bool waits, Watch& watch) = 0;
  /// What `rank` has come with.
  virtual const Call& call_of(uint32_t rank) const = 0;
  virtual const Extent* extents_of(uint32_t rank) const = 0;
  /// The order that it has shown with it, "" for none; of a rank of another host, too, where this one has shown one.
  virtual std::string order_of(uint32_t rank) const = 0;
  /// Where parts of what ranks send lie for this one, up to finish(); null for no bytes.
  virtual void read(std::span<const Part> parts, const std::byte** at) = 0;
  /// Brings a part of what a rank sends to `to`, at the latest by leave().
  virtual void take(const Part& part, std::byte* to) = 0;
  /// Where to write a part of what a rank receives; it is there when that rank has left.
  virtual std::byte* write(const Part& part) = 0;
  /// This rank has done its work. Waits until `whose` (a rank, kEveryRank, kNoRank) has, too: nobody has to do with
  /// this one's buffers then. Not called where the data went with the posts.
  virtual void leave(uint32_t whose) = 0;
  /// The end of a collective, also of one that failed: what was kept for it goes.
  virtual void finish() = 0;

  // ---- Ranks on several hosts. Only those of one host read, take and write each other's buffers, see each other's
  // calls and wait for each other above; between hosts a collective passes data.

  /// Null where all ranks share memory.
  virtual const Hosts* hosts() const { return nullptr; }
  /// Sends data to a rank of another host in this collective; `step` tells it from other data between the two. Needed
  /// up to leave() unless it is small (kInlineBytes).
  virtual void pass(uint32_t to, uint32_t step, const std::byte* data, uint64_t bytes);
  /// Where the data goes that a rank of another host passes, or, not null, what it is combined with there.
  virtual void expect(uint32_t from, uint32_t step, std::byte* to, uint64_t bytes, const Merge* with);
  /// Returns when it is there, with the bytes that were passed; where they are not those expected, it was not received.
  /// Data of a call that does not fit this one's is not taken: sight() tells of it.
  virtual uint64_t await_passed(uint32_t from, uint32_t step, Watch& watch);
  /// Returns when what was passed so is not needed any more.
  virtual void await_sent(uint32_t to, uint32_t step);

  // ---- Messages between two ranks, numbered from 1 on in each direction. A rank may send and receive while it is in a
  // collective.

  enum class Sent {
    kBusy,    ///< not yet: a message before it is still on its way
    kPosted,  ///< the buffer is needed until the message is taken
    kDone,    ///< the buffer is not needed any more
  };
  /// `kept` gets what must live as long as the message is on its way.
  virtual Sent send(uint32_t to, uint32_t number, const Call& call, const void* buffer,
                    std::shared_ptr<void>& kept) = 0;
  virtual bool taken(uint32_t to, uint32_t number) const = 0;
  /// The call of a message that has come; null when it has not.
  virtual const Call* message(uint32_t from, uint32_t number) const = 0;
  /// Takes that message. Its call is that of the receiver.
  virtual void receive(uint32_t from, uint32_t number, void* buffer) = 0;
  /// Rung when a message to this rank has come, or one from it was taken.
  virtual uint32_t doorbell() const = 0;
  virtual void await_doorbell(uint32_t heard, uint32_t whose, Watch& watch) = 0;

  // ---- Who is there.

  struct Sight {
    bool far = false;  ///< on another host
    bool joined = false;
    bool left = false;      ///< in peace
    int64_t silent_s = -1;  ///< since the last sign of life; -1: it has not begun
    uint32_t calls = 0;     ///< collectives begun
    Call last;              ///< of them
  };
  virtual Sight sight(uint32_t rank) const = 0;
  virtual void join() = 0;
  virtual void depart() = 0;
  enum class Lost {
    kEnded,        ///< the process
    kReset,        ///< the connection to it; the process goes on
    kUnreachable,  ///< there has never been a connection
  };
  /// `lost` hears of processes that end, also of those that have, in another thread, and may ask the transport. After
  /// an empty one nothing is heard any more, and none runs: the last call before the transport ends.
  using OnLost = std::function<void(const std::string& process, Lost how)>;
  virtual void listen(OnLost lost) = 0;

  // ---- The end of the communicator for everybody, with a text; the first one to abort it is heard.

  struct Reason {
    int32_t result;
    std::string text;
  };
  virtual void abort(int32_t result, std::string_view text) = 0;
  virtual bool aborted() const = 0;
  virtual Reason reason() const = 0;
  /// Raises the reason if there is one.
  void check() const {
    if (aborted()) [[unlikely]]
      raise();
  }

 private:
  [[noreturn]] void raise() const;
};

}  // namespace npu::comm
