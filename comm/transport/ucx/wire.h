// SPDX-License-Identifier: Apache-2.0
// This process's messages to processes of other hosts, over UCX: one connection for each process, shared by all
// communicators. Whoever waits for a message moves the network on meanwhile; when nobody waits, a thread of the wire
// does, which sleeps until something comes and says every second that this process is alive.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "comm/core/call.h"
#include "comm/core/counter.h"
#include "comm/transport/ucx/library.h"

namespace npu::comm {

/// What goes with the data of a message. Plain data, of whole cache lines.
struct alignas(64) Head {
  enum class What : uint32_t {
    kJoined,
    kLeft,
    kAbort,
    kCalls,
    kOrder,
    kData,
    kMessage,
    kTaken,
    kWanted,
    kWantedMessage
  } what = What::kJoined;
  uint32_t to = 0, from = 0;  ///< ranks of the group
  uint32_t number = 0;        ///< of the collective, or of the message between the two
  uint32_t step = 0;          ///< tells data of one collective apart; the result of an abort
  uint32_t calls = 0;         ///< collectives that the sender has begun
  uint64_t group = 0;
  uint64_t offset = 0, bytes = 0;  ///< of this piece in the data, and of all of the data
  uint32_t blank = 0, tail = 0;    ///< bytes before the data, and behind it, that are none of it
  Call call;                       ///< that it is in, or of the message
};

/// Data on its way.
struct Transfer {
  bool done = false, failed = false;
  std::function<void()> then;  ///< called in the wire's lock when it has ended
};
using TransferPtr = std::shared_ptr<Transfer>;

/// Another process, as this one reaches it.
struct Endpoint {
  std::string process;
  ucp_ep_h handle = nullptr;
  bool failed = false;
  bool told = false;     ///< its failure, to those who listen
  int64_t heard_ms = 0;  ///< when it was heard last, by the steady clock; 0: never
};

class Wire {
 public:
  /// One group's side of it, as one of its ranks.
  class Receiver {
   public:
    /// Called in the wire's lock. `data` is there until this returns; of larger data, which lies with its sender,
    /// `token` is what Wire::fetch() takes, once; null for other data.
    virtual void arrived(const Head& head, std::span<const std::byte> data, uint64_t bytes, void* token) = 0;
    /// In the wire's thread, without its lock: the connection to that process has broken.
    virtual void lost(const Endpoint& endpoint) = 0;
    /// Every second, in the wire's thread.
    virtual void beat() = 0;

   protected:
    ~Receiver() = default;
  };

  /// Opened by the first call, with UCX's variables by name. Raises kUnsupported without UCX, kNetwork.
  static Wire& open(const UcxVariables& variables);
  /// The one that is open.
  static Wire& get();

  /// Where others reach this process: printable text.
  const std::string& address() const { return address_; }
  /// The connection to a process, made when it is first asked for. Raises kNetwork.
  Endpoint& connected(const std::string& process, const std::string& address);

  /// Messages to `rank` of `group` go to `receiver`, also those that came before.
  void add(Receiver& receiver, uint64_t group, uint32_t rank);
  /// Returns when none of its functions runs any more.
  void remove(Receiver& receiver, uint64_t group, uint32_t rank);
  /// While it is held no receiver hears of a loss or a beat, and none is just hearing of one. Before the lock.
  std::unique_lock<std::mutex> quiet() { return std::unique_lock(telling_); }

  // ---- In the lock.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  /// Data of up to kCopied bytes is copied; larger data is needed until the transfer is done.
  TransferPtr send(Endpoint& to, const Head& head, std::span<const std::byte> data = {},
                   std::function<void()> then = nullptr);
  /// Brings data from its sender.
  TransferPtr fetch(void* token, std::byte* to, uint64_t bytes, std::function<void()> then = nullptr);
  /// Done when all that was sent there before has left this process.
  TransferPtr flush(Endpoint& to);
  /// Nobody wants it.
  void drop(void* token);
  /// Called soon, in the lock, when UCX does not call back: for answers. Not once `whose` is removed.
  void later(Receiver& whose, std::function<void()> what) { later_.emplace_back(&whose, std::move(what)); }
  /// Ends the connection, and all that is on its way there.
  void break_off(Endpoint& endpoint);

  static constexpr uint64_t kCopied = 8192;

  // ---- Without it.
  /// Waits until `done`, which is asked in the lock. `look_around` gets the milliseconds waited so far, before the
  /// thread sleeps and at least every 50 ms; it ends the wait by throwing.
  template <class Done, class Look>
  void await(const Spin& spin, Done&& done, Look&& look_around) {
    await_any(
        spin, [](void* context) -> bool { return (*static_cast<std::remove_reference_t<Done>*>(context))(); }, &done,
        [](void* context, int64_t ms) { (*static_cast<std::remove_reference_t<Look>*>(context))(ms); }, &look_around);
  }
  /// How often a thread moves the network on before it sleeps: each time asks the system.
  static int tries_of(const Spin& spin) { return spin.pauses / 20 + spin.yields; }
  /// From +1 to -1 a thread is about to wait, and moves the network on when it does: the wire's thread would only get
  /// in its way, at each message that comes.
  void attend(int change) { attended_.fetch_add(change); }
  /// The thread of the wire goes on with it at once: this one is going to sleep elsewhere.
  void hand_over();

  static int64_t now_ms();

 private:
  struct Stray;
  struct Request;
  explicit Wire(const UcxVariables& variables);
  void make_worker(const UcxVariables& variables);
  static ucs_status_t on_message(void* wire, const void* header, size_t header_bytes, void* data, size_t bytes,
                                 const ucp_am_recv_param_t* param);
  static void on_error(void* endpoint, ucp_ep_h handle, ucs_status_t status);
  template <class Call>
  TransferPtr begin(std::unique_ptr<Request> request, bool possible, Call&& call);
  static void on_done(void* asked, ucs_status_t status, void* request);
  void deliver(const Head& head, std::span<const std::byte> data, uint64_t bytes, void* token);
  void await_any(const Spin& spin, bool (*done)(void*), void* done_context, void (*look)(void*, int64_t),
                 void* look_context);
  bool progress();
  void close(const Endpoint& endpoint);
  bool arm();
  void sleep(int timeout_ms, bool network) const;
  void run();
  void beat();
  void tell_lost();
  void forget_strays();
  void stop();

  using Key = std::pair<uint64_t, uint32_t>;
  const Ucx& ucx_;
  std::mutex mutex_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  bool aligns_ = false;  // data that is pushed
  int event_ = -1;       // of the worker
  int bell_ = -1;        // for the thread
  std::string address_;
  std::vector<std::unique_ptr<Endpoint>> made_;  // groups that have not left yet know them
  std::map<std::string, Endpoint*> endpoints_;   // the last one to each process
  std::map<Key, Receiver*> receivers_;
  std::multimap<Key, Stray> strays_;  // messages to those who have not come yet
  std::vector<Endpoint*> broken_;     // to be closed
  std::vector<std::pair<Receiver*, std::function<void()>>> later_;
  std::atomic<int> waiting_{0};   // threads that move the network on
  std::atomic<int> attended_{0};  // and those that will
  std::mutex telling_;            // while receivers are called without the lock
  bool stopped_ = false;
};

}  // namespace npu::comm
