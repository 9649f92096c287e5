// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/registrar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "base/masked_signals.h"
#include "comm/core/fault.h"
#include "comm/rendezvous/rank_source.h"
#include "comm/rendezvous/variable.h"
#include "comm/rendezvous/way.h"

namespace npu::comm {
namespace {

constexpr int kProtocol = 3;
constexpr int kLookMs = 100;
/// A registrar says at once who it is. Some other program at one of the ports may never say a word.
constexpr std::chrono::seconds kGreeting{2};
// So long a rank looks for its own group beside one of the same job that differs, before it calls that a mistake.
constexpr auto kGrace = std::chrono::milliseconds(1200);
// So long a rank tries to reach a registrar that must be there.
constexpr auto kPatience = std::chrono::milliseconds(1000);

/// Counts registrars: one that has failed makes room for the next.
std::atomic<uint32_t> registrars{0};

Json to_json(const Peer& peer) {
  return {{"rank", peer.rank},     {"device", peer.device},   {"pid", peer.pid},
          {"host", peer.host},     {"process", peer.process}, {"socket", peer.socket},
          {"domain", peer.domain}, {"order", peer.order},     {"on_machine", peer.on_machine}};
}

Peer to_peer(const Json& from) {
  const auto text = [&](const char* key) { return from.at(key).get<std::string>(); };
  return {from.at("rank").get<uint32_t>(),
          from.at("device").get<int32_t>(),
          from.at("pid").get<int32_t>(),
          text("host"),
          text("process"),
          text("socket"),
          text("domain"),
          "",
          text("order"),
          from.value("on_machine", -1)};
}

std::string refusal(Result result, const std::string& text) {
  return Json{{"refused", text}, {"result", static_cast<int32_t>(result)}}.dump();
}

/// One group being gathered.
class Registrar {
 public:
  Registrar(Socket listener, Place place, Deadline deadline)
      : listener_(std::move(listener)), place_(std::move(place)), deadline_(deadline), number_(++registrars) {}

  void run() {
    while (size_ == 0 || peers_.size() < size_) {
      std::vector<pollfd> fds = {{listener_.fd(), POLLIN, 0}};
      for (const auto& [rank, socket] : sockets_) fds.push_back({socket.fd(), POLLRDHUP, 0});
      if (std::chrono::steady_clock::now() >= deadline_) return fail(Result::kTimeout, missing());
      poll(fds.data(), fds.size(), kLookMs);
      // Ends first: who has lost a rank must not hear that a table is complete.
      size_t i = 1;
      for (const auto& [rank, socket] : sockets_)
        if (fds[i++].revents != 0)
          return fail(Result::kRemote, fmt::format("EI0006: {} has ended, or its connection was reset, while the ranks "
                                                   "were gathering",
                                                   describe(peers_.at(rank))));
      if (fds[0].revents != 0 && !take(listener_.accepted(deadline_))) return;
    }
    Json table = Json::array();
    const std::vector<Peer> peers = numbered();
    for (const Peer& peer : peers) table.push_back(to_json(peer));
    tell_all(Json{{"peers", table}}.dump());
    if (on_several_hosts(peers)) exchange_addresses(peers);
  }

 private:
  /// Only who knows that ranks are on several hosts starts to use the network; all of them do then.
  void exchange_addresses(const std::vector<Peer>& peers) {
    std::map<std::string, std::string> addresses;  // by process
    for (const auto& [place, socket] : sockets_) {
      const Peer& peer = peers_.at(place);
      std::string text;
      if (!socket.receive(&text, deadline_))
        return fail(Result::kRemote,
                    fmt::format("EI0006: {} has ended, or its connection was reset, before it told its "
                                "address",
                                describe(peer)));
      const Json told = Json::try_parse(text).value_or(nullptr);
      if (!told.is_object() || !told.contains("address"))
        return fail(Result::kNetwork,
                    fmt::format("{} (on {})", told.is_object() ? told.value("failed", "") : "", describe(peer)));
      addresses[peer.process] = told["address"].get<std::string>();
    }
    Json table = Json::array();
    for (const Peer& peer : peers) table.push_back(addresses[peer.process]);
    tell_all(Json{{"addresses", table}}.dump());
  }
  /// Ranks that came without a number get theirs by host and device.
  std::vector<Peer> numbered() const {
    std::vector<Peer> out;
    out.reserve(peers_.size());
    for (const auto& [rank, peer] : peers_) out.push_back(peer);
    if (std::ranges::any_of(out, [](const Peer& peer) { return peer.rank == kAnyRank; }))
      std::ranges::sort(out, {}, [](const Peer& peer) { return std::tuple(peer.order, peer.host, peer.device); });
    for (uint32_t rank = 0; rank < out.size(); ++rank) out[rank].rank = rank;
    return out;
  }
  /// What a process that has come says; nothing for a port scanner, or somebody who gave up.
  Json hello_of(const Socket& socket) const {
    std::string text;
    const Deadline soon = std::min(deadline_, std::chrono::steady_clock::now() + std::chrono::seconds(5));
    const Json greeting = {{"registrar", place_.uid}, {"job", place_.job}, {"gatherer", describe_gatherer()}};
    if (!socket || !socket.send(greeting.dump()) || !socket.receive(&text, soon)) return nullptr;
    Json hello = Json::try_parse(text).value_or(nullptr);
    if (!hello.is_object()) socket.send(Json{{"other", true}}.dump());
    return hello.is_object() ? hello : Json();
  }
  /// False when the group has failed.
  bool take(Socket socket) {
    const Json hello = hello_of(socket);
    if (hello.is_null()) return true;
    try {
      if (hello.value("uid", Json()) != place_.uid) return answer_other(socket, hello);
      const std::string other_version = check_version(hello);
      if (!other_version.empty()) return refuse(socket, Result::kInternal, other_version);
      const Peer peer = to_peer(hello.at("peer"));
      if (const std::string from = socket.peer_address(); !may_take_part(from)) {
        socket.send(refusal(Result::kParameter,
                            fmt::format("EI0001: {} comes from {}, which the HCCL_WHITELIST_FILE of {} does not name; "
                                        "add it there, or set HCCL_WHITELIST_DISABLE to 1",
                                        describe(peer), from, describe_gatherer())));
        return true;
      }
      const auto size = hello.at("size").get<uint32_t>();
      const uint32_t place = peer.rank == kAnyRank ? static_cast<uint32_t>(peers_.size()) : peer.rank;
      const std::string wrong = check(size, peer, place);
      if (!wrong.empty()) return refuse(socket, Result::kParameter, wrong);
      size_ = size;
      peers_.emplace(place, peer);
      sockets_.emplace(place, std::move(socket));
    } catch (const JsonError& error) {
      socket.send(refusal(Result::kParameter, fmt::format("EI0006: what came is no greeting: {}", error.what())));
    }
    return true;
  }
  bool shares_device(const Json& hello) const {
    const Json devices = hello.value("devices", Json::array());
    return std::any_of(devices.begin(), devices.end(), [&](const Json& each) {
      return std::ranges::any_of(place_.devices, [&](const std::string& own) { return each == own; });
    });
  }
  /// One of another group, which has found none of its own. Of the same job and with the same devices, it has the wrong
  /// rank table.
  bool answer_other(const Socket& socket, const Json& hello) {
    if (place_.job.empty() || hello.value("job", "") != place_.job || !shares_device(hello)) {
      socket.send(Json{{"other", true}}.dump());
      return true;
    }
    const Peer peer = to_peer(hello.at("peer"));
    for (const auto& [rank, known] : peers_)
      if (known.process == peer.process) {  // of two groups that are made at once
        socket.send(Json{{"other", true}}.dump());
        return true;
      }
    return refuse(socket, Result::kParameter,
                  fmt::format("EI0004: ranks have different rank tables: {} has {}, {} has {}; give all ranks the same "
                              "one, or their jobs different JOB_IDs",
                              describe(peer), hello.value("told", ""), describe_gatherer(), place_.told));
  }
  std::string describe_gatherer() const {
    for (const auto& [rank, peer] : peers_)
      if (peer.pid == getpid() && peer.host == host_name()) return describe(peer);
    return fmt::format("the process that gathers the ranks (host {}, process {})", host_name(), getpid());
  }

  static std::string check_version(const Json& hello) {
    const int protocol = hello.at("protocol").get<int>();
    const std::string library = hello.value("library", "unknown");
    if (protocol == kProtocol && library == ANYNPU_VERSION) return "";
    const Json peer = hello.value("peer", Json::object());
    return fmt::format(
        "EI0008: rank {} (host {}, process {}) runs version {} (protocol {}), the process that gathers the ranks {} "
        "({}); all ranks must run the same version of AnyNPU",
        peer.value("rank", Json()).dump(), peer.value("host", ""), peer.value("pid", 0), library, protocol,
        ANYNPU_VERSION, kProtocol);
  }
  std::string check(uint32_t size, const Peer& peer, uint32_t place) const {
    if (size_ != 0 && size != size_)
      return fmt::format("EI0005: nRanks is {} for {}, and {} for {}", size, describe(peer), size_,
                         describe(peers_.begin()->second));
    for (const auto& [rank, other] : peers_)
      if (peer.rank == kAnyRank && other.domain == peer.domain && other.device == peer.device)
        return fmt::format("EI0005: device {} of host {} has come twice, in processes {} and {}; give each its own",
                           peer.device, peer.host, other.pid, peer.pid);
    if (place >= size) return fmt::format("EI0003: {} is outside a group of {} ranks", describe(peer), size);
    if (const auto known = peers_.find(place); known != peers_.end())
      return fmt::format("EI0005: rank {} has come twice: {} and {}; check RANK_ID", place, describe(known->second),
                         describe(peer));
    return "";
  }

  std::string missing() const {
    if (size_ == 0) return "EI0006: no rank has come";
    if (std::ranges::any_of(peers_, [](const auto& each) { return each.second.rank == kAnyRank; })) {
      std::vector<std::string> here;
      for (const auto& [place, peer] : peers_) here.push_back(describe(peer));
      return fmt::format("EI0006: {} of {} ranks have come: {}. HCCL_CONNECT_TIMEOUT sets the limit", peers_.size(),
                         size_, fmt::join(here, ", "));
    }
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < size_; ++rank)
      if (!peers_.contains(rank)) ranks.push_back(rank);
    return fmt::format("EI0006: of {} ranks {} have come; missing: {}. HCCL_CONNECT_TIMEOUT sets the limit", size_,
                       peers_.size(), fmt::join(ranks, ", "));
  }

  void tell_all(const std::string& text) {
    for (const auto& [rank, socket] : sockets_) socket.send(text);
  }
  bool refuse(const Socket& socket, Result result, const std::string& text) {
    socket.send(refusal(result, text));
    fail(result, text);
    return false;
  }
  /// Tells all that have come, then those that still come.
  void fail(Result result, const std::string& text) {
    const std::string said = refusal(result, text);
    tell_all(said);
    sockets_.clear();
    while (std::chrono::steady_clock::now() < deadline_ && number_ == registrars) {
      pollfd door{listener_.fd(), POLLIN, 0};
      if (poll(&door, 1, kLookMs) <= 0) continue;
      const Socket socket = listener_.accepted(deadline_);
      const Json hello = hello_of(socket);
      if (hello.is_object())
        socket.send(hello.value("uid", Json()) == place_.uid ? said : Json{{"other", true}}.dump());
    }
  }

  Socket listener_;
  const Place place_;
  const Deadline deadline_;
  const uint32_t number_;
  uint32_t size_ = 0;  // known when the first has come
  std::map<uint32_t, Peer> peers_;
  std::map<uint32_t, Socket> sockets_;
};

Socket listener_at(const Place& place) {
  for (uint32_t i = 0; i < place.ports; ++i)
    if (Socket out = Socket::listener(place.address, static_cast<uint16_t>(place.port + i))) return out;
  return Socket();
}

}  // namespace

Place start_registrar(Place place, Deadline deadline) {
  Socket listener = listener_at(place);
  if (!listener) {
    ++registrars;  // one of this process that has failed goes
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * kLookMs));
    listener = listener_at(place);
  }
  if (!listener)
    fault(Result::kNetwork,
          "EI0019: ports {} to {} of {} are all in use; end the process that holds them (`ss -ltnp`), or "
          "set {}",
          place.port, place.port + place.ports - 1, place.address,
          place.ports > 1 ? "HCCL_IF_BASE_PORT" : "another CM_CHIEF_PORT");
  place.port = listener.port();
  place.ports = 1;
  auto registrar = std::make_shared<Registrar>(std::move(listener), place, deadline);
  const MaskedSignals masked;
  std::thread([registrar] {
    pthread_setname_np(pthread_self(), "npu-registrar");
    registrar->run();
  }).detach();
  return place;
}

namespace {

/// Raises what the registrar has refused.
void check_refusal(const Json& answer) {
  if (answer.contains("refused"))
    throw Fault(static_cast<Result>(answer.at("result").get<int32_t>()), answer.at("refused").get<std::string>());
}

/// Tells the registrar where other hosts reach this process, and hears the same of all.
void tell_address(const Socket& socket, const std::string& own_way, Deadline deadline, Group* group) {
  std::string text;
  try {
    socket.send(Json{{"address", opened_wire(own_way).address()}}.dump());
  } catch (const Fault& failed) {
    socket.send(Json{{"failed", failed.message()}}.dump());
    throw;
  }
  if (!socket.receive(&text, deadline + std::chrono::seconds(5)))
    fault(Result::kRemote, "EI0006: the process that gathers the ranks has ended before all had told their addresses");
  const Json answer = Json::try_parse(text).value_or(nullptr);
  if (answer.is_object()) check_refusal(answer);
  for (size_t i = 0; i < group->peers.size(); ++i)
    group->peers[i].address = answer.at("addresses").at(i).get<std::string>();
}

enum class Heard { kNobody, kStranger, kOther, kOtherOfJob, kTable };

/// Asks at one port; with hello["insists"] also another group of the same job.
Heard ask(const Place& place, uint16_t port, const Json& hello, Deadline deadline, Group* group) {
  const Socket socket = Socket::connected(place.address, port, deadline);
  if (!socket) return Heard::kNobody;
  std::string text;
  if (!socket.receive(&text, std::min(deadline, std::chrono::steady_clock::now() + kGreeting))) return Heard::kStranger;
  const Json greeting = Json::try_parse(text).value_or(nullptr);
  if (!greeting.is_object() || !greeting.contains("registrar")) return Heard::kStranger;
  const bool other = greeting["registrar"] != place.uid;
  if (other && (place.job.empty() || greeting.value("job", Json()) != place.job)) return Heard::kOther;
  if (other && !hello["insists"].get<bool>()) return Heard::kOtherOfJob;
  if (!socket.send(hello.dump()) || !socket.receive(&text, deadline + std::chrono::seconds(5))) {
    if (other || std::chrono::steady_clock::now() >= deadline) return Heard::kNobody;
    fault(Result::kRemote,
          "EI0006: {} has ended, or the connection to it ({} port {}) was reset, while it gathered the ranks",
          greeting.value("gatherer", ""), place.address, port);
  }
  const Json answer = Json::try_parse(text).value_or(nullptr);
  if (!answer.is_object()) return Heard::kNobody;
  try {
    check_refusal(answer);
    if (!answer.contains("peers")) return Heard::kOther;
    std::vector<Peer> peers;
    for (const Json& peer : answer.at("peers")) peers.push_back(to_peer(peer));
    group->peers = std::move(peers);
    if (on_several_hosts(group->peers)) tell_address(socket, socket.own_address(), deadline, group);
    return Heard::kTable;
  } catch (const JsonError&) {
    return Heard::kOther;  // something else listens there
  }
}

[[noreturn]] void nobody_answers(const Place& place, uint32_t size, const Peer& own, bool others, uint32_t stranger) {
  std::string hint;
  if (others)
    hint = " (another job gathers its ranks there; give each its own HCCL_IF_BASE_PORT)";
  else if (stranger != 0 && !place.listens)
    hint = fmt::format(" (port {} is held by another program; HCCL_IF_BASE_PORT chooses others)", stranger);
  fault(Result::kTimeout,
        "EI0006: {} of {} got no answer at {} port {}{}: the rank that gathers the others has {}ended, or cannot "
        "be reached (firewall, HCCL_IF_IP). HCCL_CONNECT_TIMEOUT sets the limit",
        own.rank == kAnyRank ? fmt::format("device {}, one", own.device) : fmt::format("rank {}", own.rank), size,
        place.address, place.port, hint, place.listens ? "" : "not started, has ");
}

}  // namespace

Group register_rank(const Place& place, uint32_t size, const Peer& own, Deadline deadline) {
  Json hello = {{"protocol", kProtocol}, {"library", ANYNPU_VERSION}, {"uid", place.uid},   {"size", size},
                {"peer", to_json(own)},  {"job", place.job},          {"told", place.told}, {"devices", place.devices}};
  Group group{place.uid, "", {}};
  const Deadline start = std::chrono::steady_clock::now();
  bool others = false, same_job = false;
  uint32_t stranger = 0;  // a port where no registrar answers
  while (std::chrono::steady_clock::now() < deadline) {
    hello["insists"] = same_job && std::chrono::steady_clock::now() - start > kGrace;
    for (uint16_t i = 0; i < place.ports; ++i) {
      const auto port = static_cast<uint16_t>(place.port + i);
      const Heard heard = ask(place, port, hello, deadline, &group);
      if (heard == Heard::kTable) return group;
      others = others || heard == Heard::kOther || heard == Heard::kOtherOfJob;
      same_job = same_job || heard == Heard::kOtherOfJob;
      if (heard == Heard::kStranger) stranger = port;
    }
    if (place.listens && std::chrono::steady_clock::now() - start > kPatience) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  nobody_answers(place, size, own, others, stranger);
}

}  // namespace npu::comm
