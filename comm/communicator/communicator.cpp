// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <ranges>
#include <thread>

#include "base/log.h"
#include "comm/core/exit.h"
#include "device/process/init.h"
#include "device/queue/capture.h"
#include "device/trace/group.h"

namespace npu::comm {

namespace detail {
NPU_SETTING(int64_t, exec_timeout, "HCCL_EXEC_TIMEOUT", 1800,
            "Seconds that a collective waits for other ranks before it fails; 0 waits for ever.");
NPU_SETTING(int64_t, host_lost_after, "ANYNPU_HOST_LOST_AFTER", 8,
            "Seconds without a sign of life after which collectives take a rank of another host, or the way there, for "
            "lost and fail; 0 never.");
NPU_SETTING(int64_t, stopped_after, "ANYNPU_STOPPED_AFTER", 30,
            "Seconds without a sign of life after which collectives take a rank for stopped and fail; 0 never.");
}  // namespace detail

namespace {

constexpr int64_t kWarnMs = 30'000;
constexpr auto kExitPatience = std::chrono::seconds(2);
constexpr auto kLeavePatience = std::chrono::seconds(5);

/// What tells each rank from all others, for records.
std::string members_of(const Group& group) {
  std::string members;
  for (const Peer& peer : group.peers)
    members += fmt::format("{}{}/{}/{}", members.empty() ? "" : ",", peer.host, peer.pid, peer.device);
  return members;
}

std::vector<uint32_t> near_of(const Transport& transport) {
  if (const Hosts* hosts = transport.hosts()) return hosts->ranks[hosts->host_of[transport.rank()]];
  std::vector<uint32_t> all(transport.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

/// All communicators of the process, for its end.
struct CommunicatorRegistry {
  mutable std::mutex mutex;
  std::vector<Communicator*> all;  // in the order in which they were made

  static CommunicatorRegistry& get() {
    static CommunicatorRegistry& instance = []() -> CommunicatorRegistry& {
      device::detail::start_process();  // its hook waits for streams; this one runs before it
      std::atexit(process_exits);
      return *new CommunicatorRegistry;
    }();
    return instance;
  }
  void add(Communicator* one) {
    const std::lock_guard lock(mutex);
    all.push_back(one);
  }
  void remove(Communicator* one) {
    const std::lock_guard lock(mutex);
    std::erase(all, one);
  }
  static void process_exits() {
    if ((device::detail::process_flags & device::detail::kForked) != 0) return;
    const std::lock_guard lock(get().mutex);
    const auto limit = std::chrono::steady_clock::now() + kExitPatience;
    for (Communicator* each : get().all) each->process_exits(limit);
    all_have_left();
  }
};

// Locked while it looks: nothing that it finds can go meanwhile, and one that is being made or unmade is nobody's yet.
std::shared_ptr<Communicator> communicator_named(std::string_view name, int device) {
  const auto& registry = CommunicatorRegistry::get();
  const std::lock_guard lock(registry.mutex);
  for (Communicator* each : registry.all | std::views::reverse) {
    if (each->group().name != name || each->closed_ || (device >= 0 && each->device() != device)) continue;
    if (auto found = each->weak_from_this().lock()) return found;
  }
  return nullptr;
}

std::vector<std::string> communicator_names() {
  const auto& registry = CommunicatorRegistry::get();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> out;
  for (const Communicator* each : registry.all)
    if (std::ranges::find(out, each->group().name) == out.end()) out.push_back(each->group().name);
  return out;
}

Communicator::Communicator(Group group, std::unique_ptr<Transport> transport, const Options& options)
    : group_(std::move(group)),
      transport_(std::move(transport)),
      rank_(transport_->rank()),
      size_(transport_->size()),
      near_(near_of(*transport_)),
      spin_(Spin::for_ranks(size(), transport_->costs().processors)),
      exec_timeout_s_(options.exec_timeout_s >= 0 ? options.exec_timeout_s : detail::exec_timeout()),
      algorithms_(options.algorithms),
      sent_(size()),
      received_(size()) {
  CommunicatorRegistry::get().add(this);
  transport_->listen([this](const std::string& process, Transport::Lost how) { process_lost(process, how); });
  transport_->join();
  device::trace::joined(group_.name, members_of(group_), rank_, size_, device());
}

Communicator::~Communicator() {
  leave();
  CommunicatorRegistry::get().remove(this);
  transport_->listen({});  // what is told of a process would ask a transport that is gone
}

void Communicator::end(Result result, const std::string& text) {
  transport_->abort(static_cast<int32_t>(result), fmt::format("[{}] {}", group_.name, text));
  while (!transport_->aborted()) std::this_thread::yield();  // another rank is just writing its reason
  check();
  throw Fault(result, text);
}

int32_t Communicator::async_error() const { return transport_->aborted() ? transport_->reason().result : 0; }

/// Goes with a task, whether it runs or is dropped with its stream; peers would wait for a dropped call for ever.
struct Ticket {
  Ticket(Communicator& its_communicator, const device::Stream& its_stream, const char* its_name)
      : communicator(its_communicator), stream(its_stream), name(its_name) {
    communicator.running_.fetch_add(1);
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() {
    if (!ran) {
      const device::FailurePtr failed = stream.failure();
      communicator.transport_->abort(
          static_cast<int32_t>(Result::kInternal),
          fmt::format("[{}] {} on {} was dropped: {}", communicator.group_.name, name,
                      describe(communicator.peer(communicator.rank_)),
                      failed ? failed->error.message() : "its stream was destroyed, or has failed"));
    }
    communicator.running_.fetch_sub(1);
  }
  Communicator& communicator;
  const device::Stream& stream;
  const char* name;
  bool ran = false;
};

// The ticket comes first: leave() waits for tickets after it has closed the communicator.
void Communicator::queue(device::Stream& stream, const char* name, std::function<void()> body) {
  auto ticket = std::make_shared<Ticket>(*this, stream, name);
  if (closed_) {
    ticket->ran = true;
    fault(Result::kUnavailable, "{} comes after its communicator was destroyed", name);
  }
  stream.launch({name, 0, device::kTaskMayWait | device::kTaskShows | device::kTaskGates,
                 [ticket = std::move(ticket), body = std::move(body)] {
                   ticket->ran = true;
                   ticket->communicator.guarded(ticket->name, body);
                 }});
}

Communicator::Entered::Entered(Communicator& communicator, const char* name) : communicator_(communicator) {
  communicator.running_.fetch_add(1);
  if (!communicator.closed_) return;
  communicator.running_.fetch_sub(1);
  fault(Result::kUnavailable, "{} comes after its communicator was destroyed", name);
}

void Communicator::fail(const char* name, const Error& error) {
  check();
  const auto* known = dynamic_cast<const Fault*>(&error);
  end(known != nullptr ? known->result() : Result::kInternal,
      fmt::format("{} has failed in {}: {}; {}", describe(peer(rank_)), name, error.message(), last_call_of(rank_)));
}

void Communicator::admit(const Lane& lane) const {
  check();
  if (lane.stream() == nullptr) return;
  if (device::captured(*lane.stream())) [[unlikely]]
    fault(Result::kUnsupported,
          "a collective meets its peers once and cannot be recorded; call it outside the capture");
  if (lane.stream()->device() == device()) [[likely]]
    return;
  fault(Result::kParameter,
        "EI0003: stream {} belongs to device {}, but the communicator is of device {}; make the stream while "
        "aclrtSetDevice({}) is in force",
        lane.stream()->id(), lane.stream()->device(), device(), device());
}

void Communicator::launch(Lane lane, const char* name, const std::function<std::function<void()>()>& number) {
  admit(lane);
  std::unique_lock lock(calling_);
  if (lane.stream() != nullptr) return queue(*lane.stream(), name, number());
  const std::function<void()> body = number();
  lock.unlock();
  const Entered entered(*this, name);
  guarded(name, body);
}

std::string Communicator::last_call_of(uint32_t rank) const {
  const Transport::Sight sight = transport_->sight(rank);
  if (sight.calls == 0) return "it has made no call yet";
  return fmt::format("its last call is #{}, {}", sight.calls, describe(sight.last));
}

void Communicator::look_around(int64_t waited_ms, uint32_t whose, const std::string& what) {
  check();
  const Transport::Sight sight = transport_->sight(whose);
  if (whose != rank_ && sight.left)
    end(Result::kRemote,
        fmt::format(
            "EI0002: {} waits for {}, which has left the communicator (HcclCommDestroy, or its process has ended); {}",
            what, describe(peer(whose)), last_call_of(whose)));
  if (left_)
    end(Result::kUnavailable, fmt::format("{} on {} was still waiting for {} when its communicator was destroyed", what,
                                          describe(peer(rank_)), describe(peer(whose))));
  if (const int64_t limit = sight.far ? detail::host_lost_after() : detail::stopped_after();
      limit > 0 && sight.silent_s >= limit)
    end(Result::kRemote,
        fmt::format("EI0002: {} gives no sign of life for {} s ({}stopped, or its machine is too busy); {} "
                    "waits for it; {}. {} sets the limit",
                    describe(peer(whose)), sight.silent_s,
                    sight.far ? "its host or the network to it has failed, or it was " : "", what, last_call_of(whose),
                    sight.far ? "ANYNPU_HOST_LOST_AFTER" : "ANYNPU_STOPPED_AFTER"));
  if (exec_timeout_s_ > 0 && waited_ms >= exec_timeout_s_ * 1000)
    end(Result::kTimeout,
        fmt::format("EI0002: {} on rank {} has waited {} s for {}; {}. HCCL_EXEC_TIMEOUT sets the limit", what, rank_,
                    waited_ms / 1000, describe(peer(whose)), last_call_of(whose)));
  if (waited_ms < kWarnMs || warned_.exchange(true)) return;
  NPU_LOG(kWarning, "HCCL", "{}: {} on rank {} waits since {} s for {}; {}", group_.name, what, rank_, waited_ms / 1000,
          describe(peer(whose)), last_call_of(whose));
}

void Communicator::process_lost(const std::string& process, Transport::Lost how) {
  for (const Peer& peer : group_.peers) {
    if (peer.process != process || transport_->sight(peer.rank).left) continue;
    std::string what;
    switch (how) {
      case Transport::Lost::kEnded: what = fmt::format("{} has ended (killed or crashed)", describe(peer)); break;
      case Transport::Lost::kReset:
        what = fmt::format("the connection between {} and {} was reset: one of them has closed its sockets",
                           describe(peer), describe(this->peer(rank_)));
        break;
      case Transport::Lost::kUnreachable:
        what = fmt::format(
            "{} cannot be reached from {} over the network: a firewall is between them, or one of them offers another "
            "network (HCCL_SOCKET_IFNAME, HCCL_IF_IP)",
            describe(peer), describe(this->peer(rank_)));
        break;
    }
    transport_->abort(static_cast<int32_t>(Result::kRemote),
                      fmt::format("[{}] EI0002: {}; {}", group_.name, what, last_call_of(peer.rank)));
    return;
  }
}

void Communicator::await_all(std::chrono::steady_clock::time_point deadline) {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    while (!transport_->sight(rank).joined) {
      check();
      if (std::chrono::steady_clock::now() >= deadline)
        end(Result::kTimeout,
            fmt::format("EI0006: {} has not joined; HCCL_CONNECT_TIMEOUT sets the limit", describe(peer(rank))));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
}

void Communicator::depart() {
  left_ = true;
  transport_->depart();
}

// Clients give up a call by destroying its communicator (PyTorch's plug-in does when a wait of its own has timed out):
// a call that others do not answer holds up its destruction for a moment, not for as long as it may wait.
void Communicator::leave() {
  closed_ = true;
  const auto limit = std::chrono::steady_clock::now() + kLeavePatience;
  while (running_ != 0 && !left_ && !transport_->aborted() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  depart();
  // Tasks look around and end.
  while (running_ != 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

// A process that ends waits for the calls it has queued for a moment only: nobody wants a job that hangs at its end.
// Without such calls it leaves in peace: others may have work of their own to finish, and hear of it only if they call.
void Communicator::process_exits(std::chrono::steady_clock::time_point limit) {
  while (running_ != 0 && !transport_->aborted() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  if (running_ == 0) return depart();
  transport_->abort(static_cast<int32_t>(Result::kRemote),
                    fmt::format("[{}] EI0002: {} exits while {} of its calls wait for other ranks; {}", group_.name,
                                describe(peer(rank_)), running_.load(), last_call_of(rank_)));
}

}  // namespace npu::comm
