// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/ucx/wire.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/masked_signals.h"
#include "base/setting.h"
#include "comm/core/exit.h"
#include "comm/core/fault.h"

namespace npu::comm {
namespace {

constexpr unsigned kMessageId = 1;
// Over TCP UCX puts 13 bytes before the data of a message, and the kernel copies both into pages, behind what this
// thread has sent before. To 1 to 15 bytes further in a page than where they come from AMD's processors copy at a
// quarter of their speed (3.3 and 13 GB/s on Zen 4), and buffers begin with a page: so messages are of whole cache
// lines, and data begins on one.
constexpr uint64_t kLine = 64, kUcxHead = 13;
constexpr std::byte kBlanks[kLine] = {};
uint32_t to_line(uint64_t bytes) { return static_cast<uint32_t>((kLine - bytes % kLine) % kLine); }
constexpr int kBeatMs = 1000;
constexpr int kLookMs = 50;
// While somebody waits, the thread only looks whether that is still so.
constexpr int kAsideMs = 5;
// Ranks join within HCCL_CONNECT_TIMEOUT; what came for others is nobody's.
constexpr int64_t kStrayMs = 300'000;

Wire*& opened() {
  static Wire* wire = nullptr;
  return wire;
}

std::string printable(const void* data, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += fmt::format("{:02x}", static_cast<const unsigned char*>(data)[i]);
  return out;
}

std::vector<unsigned char> from_printable(const std::string& text) {
  std::vector<unsigned char> out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<unsigned char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return out;
}

UcxVariables with_defaults(UcxVariables variables) {
  variables.emplace("UCX_TLS", "rc,ud,tcp,self");  // not shared memory, which it would find between containers
  // Over TCP data is sent when it is wanted (network.cpp); a card for RDMA fetches it itself.
  if (variables["UCX_NET_DEVICES"].find(':') == std::string::npos) variables.emplace("UCX_RNDV_THRESH", "inf");
  // A piece of data (network.cpp) is sent and received at once.
  variables.emplace("UCX_TCP_RX_SEG_SIZE", "128k");
  if (variables["UCX_NET_DEVICES"].empty()) variables.erase("UCX_NET_DEVICES");
  return variables;
}

}  // namespace

struct Wire::Stray {
  Head head;
  std::vector<std::byte> data;
  uint64_t bytes;
  void* token;
  int64_t came_ms;
};

/// What UCX has to do with until a transfer is done.
struct Wire::Request {
  Head head = {};
  TransferPtr transfer = std::make_shared<Transfer>();
  std::vector<std::byte> copy = {};
  std::array<ucp_dt_iov_t, 3> parts = {};
};

int64_t Wire::now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Wire& Wire::open(const UcxVariables& variables) {
  static std::mutex opening;
  const std::lock_guard lock(opening);
  if (opened() == nullptr) opened() = new Wire(with_defaults(variables));
  return *opened();
}

Wire& Wire::get() { return *opened(); }

Wire::Wire(const UcxVariables& variables) : ucx_(Ucx::get()) {
  const MaskedSignals masked;  // UCX starts a thread, too
  make_worker(variables);
  bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::thread([this] {
    pthread_setname_np(pthread_self(), "npu-network");
    run();
  }).detach();
  when_all_have_left([] { get().stop(); });
}

void Wire::make_worker(const UcxVariables& variables) {
  const UcxEnvironment environment(variables);
  const auto check = [this](ucs_status_t status, const char* what) {
    if (status != UCS_OK)
      fault(Result::kNetwork,
            "EI0006: UCX cannot {} ({}); UCX_TLS and UCX_NET_DEVICES, where they are set, must fit this host, and so "
            "must HCCL_SOCKET_IFNAME",
            what, ucx_.status_string(status));
  };
  ucp_config_t* config = nullptr;
  check(ucx_.config_read(nullptr, nullptr, &config), "read its settings");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.name = "anynpu";
  aligns_ = setting_text("UCX_RNDV_THRESH") == "inf";  // else the other side may have to fetch it
  const ucs_status_t made = ucx_.init(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
  ucx_.config_release(config);
  check(made, "start");
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(ucx_.worker_create(context_, &worker, &worker_), "use the network");
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessageId;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = &on_message;
  handler.arg = this;
  check(ucx_.worker_set_am_recv_handler(worker_, &handler), "take messages");
  check(ucx_.worker_get_efd(worker_, &event_), "wait for messages");
  ucp_address_t* address = nullptr;
  size_t bytes = 0;
  check(ucx_.worker_get_address(worker_, &address, &bytes), "tell its address");
  address_ = printable(address, bytes);
  ucx_.worker_release_address(worker_, address);
}

Endpoint& Wire::connected(const std::string& process, const std::string& address) {
  const std::lock_guard lock(mutex_);
  Endpoint*& last = endpoints_[process];
  if (last != nullptr && !last->failed) return *last;
  auto made = std::make_unique<Endpoint>();
  made->process = process;
  const std::vector<unsigned char> where = from_printable(address);
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(where.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {&on_error, made.get()};
  const ucs_status_t status = ucx_.ep_create(worker_, &params, &made->handle);
  if (status != UCS_OK)
    fault(Result::kNetwork, "EI0006: UCX finds no way to another host ({}); UCX_TLS must be the same on all hosts",
          ucx_.status_string(status));
  last = made.get();
  made_.push_back(std::move(made));
  return *last;
}

void Wire::add(Receiver& receiver, uint64_t group, uint32_t rank) {
  const std::lock_guard lock(mutex_);
  receivers_[{group, rank}] = &receiver;
  const auto [begin, end] = strays_.equal_range({group, rank});
  for (auto each = begin; each != end; ++each)
    receiver.arrived(each->second.head, each->second.data, each->second.bytes, each->second.token);
  strays_.erase(begin, end);
}

void Wire::remove(Receiver& receiver, uint64_t group, uint32_t rank) {
  const std::scoped_lock both(telling_, mutex_);
  std::erase_if(later_, [&](const auto& each) { return each.first == &receiver; });
  receivers_.erase({group, rank});
}

/// Begins with what `call` asks of UCX, unless nothing can be asked any more: then it has failed at once.
template <class Call>
TransferPtr Wire::begin(std::unique_ptr<Request> request, bool possible, Call&& call) {
  TransferPtr transfer = request->transfer;
  Request* const its = request.release();
  ucs_status_ptr_t asked = UCS_STATUS_PTR(UCS_ERR_CANCELED);
  if (possible) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.user_data = its;
    asked = call(*its, param);
  }
  if (asked == nullptr || UCS_PTR_IS_ERR(asked)) on_done(nullptr, UCS_PTR_STATUS(asked), its);
  return transfer;
}

TransferPtr Wire::send(Endpoint& to, const Head& head, std::span<const std::byte> data, std::function<void()> then) {
  auto request = std::make_unique<Request>();
  request->head = head;
  request->transfer->then = std::move(then);
  const bool small = data.size() <= kCopied;
  if (aligns_) {
    request->head.blank = small ? 0 : to_line(kUcxHead);
    request->head.tail = to_line(kUcxHead + request->head.blank + data.size());
  }
  if (small) {
    request->copy.assign(data.begin(), data.end());
    request->copy.resize(data.size() + request->head.tail);
  }
  return begin(std::move(request), !to.failed && !stopped_, [&](Request& its, ucp_request_param_t& param) {
    param.cb.send = &on_done;
    const void* what = small ? its.copy.data() : data.data();
    size_t count = small ? its.copy.size() : data.size();
    if (aligns_ && !small) {
      const auto part = [](const std::byte* at, size_t bytes) {
        return ucp_dt_iov_t{const_cast<std::byte*>(at), bytes};
      };
      its.parts = {part(kBlanks, its.head.blank), part(data.data(), data.size()), part(kBlanks, its.head.tail)};
      param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
      param.datatype = ucp_dt_make_iov();
      what = its.parts.data(), count = its.parts.size();
    }
    return ucx_.am_send(to.handle, kMessageId, &its.head, sizeof(Head), what, count, &param);
  });
}

TransferPtr Wire::flush(Endpoint& to) {
  return begin(std::make_unique<Request>(), !to.failed && !stopped_, [&](Request&, ucp_request_param_t& param) {
    param.cb.send = &on_done;
    return ucx_.ep_flush(to.handle, &param);
  });
}

TransferPtr Wire::fetch(void* token, std::byte* to, uint64_t bytes, std::function<void()> then) {
  auto request = std::make_unique<Request>();
  request->transfer->then = std::move(then);
  return begin(std::move(request), true, [&](Request&, ucp_request_param_t& param) {
    param.cb.recv_am = [](void* its, ucs_status_t status, size_t, void* user) { on_done(its, status, user); };
    return ucx_.am_recv_data(worker_, token, to, bytes, &param);
  });
}

void Wire::on_done(void* asked, ucs_status_t status, void* request) {
  const std::unique_ptr<Request> its(static_cast<Request*>(request));
  its->transfer->done = true;
  its->transfer->failed = status != UCS_OK;
  if (its->transfer->then) its->transfer->then();
  if (asked != nullptr) get().ucx_.request_free(asked);
}

void Wire::drop(void* token) {
  if (!stopped_) ucx_.am_data_release(worker_, token);
}

void Wire::break_off(Endpoint& endpoint) {
  if (endpoint.failed) return;
  endpoint.failed = true;
  broken_.push_back(&endpoint);
}

void Wire::on_error(void* endpoint, ucp_ep_h, ucs_status_t) { get().break_off(*static_cast<Endpoint*>(endpoint)); }

ucs_status_t Wire::on_message(void* wire, const void* header, size_t header_bytes, void* data, size_t bytes,
                              const ucp_am_recv_param_t* param) {
  Head head;
  if (header_bytes != sizeof(head)) return UCS_OK;  // of another version, which the registrar has refused
  std::memcpy(&head, header, sizeof(head));
  const bool asked_for = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  const uint64_t its_bytes = bytes - head.blank - head.tail;
  const std::span<const std::byte> came(static_cast<const std::byte*>(data) + head.blank, asked_for ? 0 : its_bytes);
  static_cast<Wire*>(wire)->deliver(head, came, its_bytes, asked_for ? data : nullptr);
  return asked_for ? UCS_INPROGRESS : UCS_OK;
}

void Wire::deliver(const Head& head, std::span<const std::byte> data, uint64_t bytes, void* token) {
  const Key key{head.group, head.to};
  if (const auto receiver = receivers_.find(key); receiver != receivers_.end())
    return receiver->second->arrived(head, data, bytes, token);
  if (head.what == Head::What::kCalls) return;  // the next one comes in a second
  strays_.emplace(key, Stray{head, {data.begin(), data.end()}, bytes, token, now_ms()});
}

bool Wire::progress() {
  if (stopped_) return false;
  bool moved = false;
  for (bool more = true; more;) {
    while (ucx_.worker_progress(worker_) != 0) moved = true;
    for (const auto& [whose, answer] : std::exchange(later_, {})) answer();
    more = !later_.empty() || !broken_.empty();
    for (const Endpoint* const each : std::exchange(broken_, {})) close(*each);
  }
  if (moved && waiting_.load(std::memory_order_relaxed) > 1) ucx_.worker_signal(worker_);  // it may be for another
  return moved;
}

/// What is on its way there ends when UCX is moved on.
void Wire::close(const Endpoint& endpoint) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  const ucs_status_ptr_t request = ucx_.ep_close(endpoint.handle, &param);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) ucx_.request_free(request);
  hand_over();  // its thread tells
}

/// Whether a thread may sleep until something comes.
bool Wire::arm() { return stopped_ || ucx_.worker_arm(worker_) == UCS_OK; }

void Wire::sleep(int timeout_ms, bool network) const {
  std::array<pollfd, 2> fds = {{{bell_, POLLIN, 0}, {event_, POLLIN, 0}}};
  poll(fds.data(), network ? 2 : 1, timeout_ms);
  uint64_t rung = 0;
  if (fds[0].revents != 0 && read(bell_, &rung, sizeof(rung)) < 0 && errno != EAGAIN) std::this_thread::yield();
}

void Wire::await_any(const Spin& spin, bool (*done)(void*), void* done_context, void (*look)(void*, int64_t),
                     void* look_context) {
  struct Waiting {
    std::atomic<int>& count;
    explicit Waiting(std::atomic<int>& threads) : count(threads) { count.fetch_add(1); }
    ~Waiting() { count.fetch_sub(1); }
  } const waiting(waiting_);
  const int64_t start = now_ms();
  const int tries = tries_of(spin);
  for (int i = 0;; ++i) {
    bool armed = false;
    {
      const std::lock_guard lock(mutex_);
      progress();
      if (done(done_context)) return;
      if (i >= tries) armed = arm();
    }
    if (i < tries) {
      sched_yield();
      continue;
    }
    look(look_context, now_ms() - start);
    if (!armed) continue;
    pollfd event{event_, POLLIN, 0};
    poll(&event, 1, kLookMs);
  }
}

void Wire::hand_over() {
  const uint64_t one = 1;
  if (write(bell_, &one, sizeof(one)) < 0) return;  // it has been rung, and not been heard yet
}

void Wire::run() {
  int64_t next_beat = now_ms();
  for (;;) {
    bool network = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      if (waiting_.load() == 0 && attended_.load() == 0) {
        progress();
        network = arm();
        if (!network) continue;
      }
    }
    const auto left = static_cast<int>(std::clamp<int64_t>(next_beat - now_ms(), 0, network ? kBeatMs : kAsideMs));
    sleep(left, network);
    tell_lost();
    if (now_ms() < next_beat) continue;
    beat();
    next_beat = now_ms() + kBeatMs;
  }
}

void Wire::beat() {
  const std::lock_guard telling(telling_);
  std::vector<Receiver*> all;
  {
    const std::lock_guard lock(mutex_);
    forget_strays();
    for (const auto& [key, receiver] : receivers_) all.push_back(receiver);
  }
  for (Receiver* each : all) each->beat();
}

void Wire::tell_lost() {
  const std::lock_guard telling(telling_);
  std::vector<Endpoint*> lost;
  std::vector<Receiver*> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& endpoint : made_)
      if (endpoint->failed && !std::exchange(endpoint->told, true)) lost.push_back(endpoint.get());
    if (lost.empty()) return;
    for (const auto& [key, receiver] : receivers_) all.push_back(receiver);
  }
  for (const Endpoint* endpoint : lost)
    for (Receiver* each : all) each->lost(*endpoint);
}

void Wire::forget_strays() {
  for (auto each = strays_.begin(); each != strays_.end();) {
    const bool old = now_ms() - each->second.came_ms > kStrayMs;
    if (old && each->second.token != nullptr) drop(each->second.token);
    each = old ? strays_.erase(each) : std::next(each);
  }
}

// UCX ends with the process, and nobody may be in it then.
void Wire::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  hand_over();
}

}  // namespace npu::comm
