// SPDX-License-Identifier: Apache-2.0
// One rank of a group of ranks. Collectives run as tasks on the client's streams, one after the other in the order they
// were called; a send or receive follows the order of its pair only. Whatever goes wrong ends the communicator for
// every rank: each call then raises the same text, which names who and what.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/setting.h"
#include "comm/communicator/algorithm.h"
#include "comm/core/counter.h"
#include "comm/core/fault.h"
#include "comm/core/group.h"
#include "comm/transport/transport.h"
#include "device/queue/stream.h"

namespace npu::comm {

struct Options {
  std::string name;             ///< "" for one made of the group
  int64_t exec_timeout_s = -1;  ///< -1: HCCL_EXEC_TIMEOUT
  AlgorithmChoice algorithms = AlgorithmChoice::of_environment();
};

/// Where a call runs: as a task of a stream of the communicator's device, in the calling thread, or in the turn that
/// the calling thread has already.
class Lane {
 public:
  Lane(device::Stream& stream) : stream_(&stream) {}  // NOLINT: a stream is a lane
  /// The thread waits for its peers there; the call has been done when it returns, or raises what went wrong.
  static Lane calling_thread() { return {}; }
  /// Within the body of launch_in_order, which may meet the ranks once.
  static Lane own_turn() {
    Lane lane;
    lane.in_turn_ = true;
    return lane;
  }
  /// Null: the calling thread.
  device::Stream* stream() const { return stream_; }
  bool in_turn() const { return in_turn_; }

 private:
  Lane() = default;
  device::Stream* stream_ = nullptr;
  bool in_turn_ = false;
};

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  /// `transport` leads this rank to the others of `group`.
  Communicator(Group group, std::unique_ptr<Transport> transport, const Options& options = {});
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  int device() const { return group_.peers[rank_].device; }
  const Group& group() const { return group_; }
  /// Collectives that have run, the same number on all ranks where they are in the same.
  uint32_t turns() const { return turn_.value.load(std::memory_order_relaxed); }
  const Peer& peer(uint32_t rank) const { return group_.peers[rank]; }
  /// The ranks with which this one shares memory, itself among them.
  std::span<const uint32_t> near() const { return near_; }
  Transport& transport() const { return *transport_; }
  /// How a call of so many bytes is done; the same on all ranks.
  Algorithm algorithm(const CollectiveDef& row, uint64_t bytes) const {
    if (transport_->hosts() != nullptr) return algorithms_.between(row);
    return row.shares ? algorithms_.of(row, bytes, size(), transport_->costs()) : Algorithm::kNone;
  }

  /// Queues `body` on `lane` as the next collective of this communicator; it runs when those before it have.
  template <class F>
  void launch_in_order(Lane lane, const char* name, F&& body);
  /// Queues the body that `number` makes, without an order among the communicator's calls. Messages take their numbers
  /// there: no other call of this communicator is queued meanwhile.
  void launch(Lane lane, const char* name, const std::function<std::function<void()>()>& number);

  /// What a rank does while it waits for `whose`: raises the communicator's fault, or ends it where it would wait for
  /// ever. `what` it does, for texts: "all_reduce of 4 float32".
  void look_around(int64_t waited_ms, uint32_t whose, const std::string& what);
  /// Raises the fault if there is one.
  void check() const { transport_->check(); }
  /// Ends the communicator for all ranks and raises.
  [[noreturn]] void end(Result result, const std::string& text);
  /// kOk (0) or the fault's number: HcclGetCommAsyncError.
  int32_t async_error() const;

  /// Waits until all ranks have joined. Raises kTimeout, naming one that has not, or the communicator's fault.
  void await_all(std::chrono::steady_clock::time_point deadline);
  /// Leaves in peace, after the calls made so far have run; with a fault, at once. Calls that others have not answered
  /// within 5 s are given up.
  void leave();

  /// Numbers of the next message to and from each rank; within launch() only.
  uint32_t next_sent(uint32_t to) { return ++sent_[to]; }
  uint32_t next_received(uint32_t from) { return ++received_[from]; }

 private:
  friend struct CommunicatorRegistry;
  friend std::shared_ptr<Communicator> communicator_named(std::string_view, int);
  friend struct Ticket;
  void admit(const Lane& lane) const;
  /// What goes wrong in one rank's call, such as memory that runs out, must not leave the others waiting.
  template <class F>
  void guarded(const char* name, F&& body);
  [[noreturn]] void fail(const char* name, const Error& error);
  void depart();
  void process_lost(const std::string& process, Transport::Lost how);
  void process_exits(std::chrono::steady_clock::time_point limit);
  void queue(device::Stream& stream, const char* name, std::function<void()> body);
  /// Counts a call that runs in its caller's thread. Raises after the end.
  class Entered;
  template <class F>
  void take_turn(uint32_t number, const char* name, F&& body);
  std::string last_call_of(uint32_t rank) const;

  const Group group_;
  std::unique_ptr<Transport> transport_;
  const uint32_t rank_, size_;
  const std::vector<uint32_t> near_;
  const Spin spin_;
  const int64_t exec_timeout_s_;
  const AlgorithmChoice algorithms_;
  alignas(64) Counter turn_;  // collectives that have run
  std::mutex calling_;        // numbers of a stream are taken in the order in which its calls are queued
  std::atomic<uint32_t> launched_{0};
  std::atomic<uint32_t> running_{0};  // tasks queued and not ended, of any kind
  std::vector<uint32_t> sent_, received_;
  std::atomic<bool> closed_{false}, left_{false}, warned_{false};
};

/// Of this process, the communicator of that name that was made last and is not left; of `device`, or of any (-1). Null
/// for none.
std::shared_ptr<Communicator> communicator_named(std::string_view name, int device = -1);
/// Their names, each once, for texts.
std::vector<std::string> communicator_names();

// leave() waits for it, as for those that are queued.
class Communicator::Entered {
 public:
  Entered(Communicator& communicator, const char* name);
  ~Entered() { communicator_.running_.fetch_sub(1); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  Communicator& communicator_;
};

template <class F>
void Communicator::take_turn(uint32_t number, const char* name, F&& body) {
  if (!turn_.reached(number))
    wait_until(turn_, number, spin_, [&](int64_t waited_ms) { look_around(waited_ms, rank_, name); });
  check();
  transport_->begin(number + 1);
  body();
  turn_.set(number + 1);  // after a failure nobody comes next
}

template <class F>
void Communicator::guarded(const char* name, F&& body) {
  try {
    body();
  } catch (const Error& error) {
    fail(name, error);
  }
}

template <class F>
void Communicator::launch_in_order(Lane lane, const char* name, F&& body) {
  if (lane.in_turn()) return body();
  admit(lane);
  if (lane.stream() == nullptr) {
    const Entered entered(*this, name);
    return guarded(name, [&] { take_turn(launched_.fetch_add(1), name, body); });
  }
  const std::lock_guard lock(calling_);
  const uint32_t number = launched_.fetch_add(1);
  queue(*lane.stream(), name, [this, number, name, body = std::forward<F>(body)] { take_turn(number, name, body); });
}

namespace detail {
/// Seconds of a call before it fails: HCCL_EXEC_TIMEOUT.
extern Setting<int64_t> exec_timeout;
/// Seconds without a sign of life before a rank counts as stopped; of one on another host.
extern Setting<int64_t> stopped_after;
extern Setting<int64_t> host_lost_after;
}  // namespace detail

}  // namespace npu::comm
