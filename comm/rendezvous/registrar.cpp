// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/registrar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "comm/fault.h"
#include "comm/rendezvous/rank_source.h"

namespace npu::comm {
namespace {

using nlohmann::json;

constexpr int kProtocol = 1;
/// A registrar says at once who it is. Some other program at one of the ports may never say a word.
constexpr std::chrono::seconds kGreeting{2};

json to_json(const Peer& peer) {
  return {{"rank", peer.rank}, {"device", peer.device},   {"pid", peer.pid},
          {"host", peer.host}, {"process", peer.process}, {"socket", peer.socket}};
}

Peer to_peer(const json& from) {
  return {from.at("rank"), from.at("device"), from.at("pid"), from.at("host"), from.at("process"), from.at("socket")};
}

std::string refusal(Result result, const std::string& text) {
  return json{{"refused", text}, {"result", static_cast<int32_t>(result)}}.dump();
}

/// One group being gathered.
class Registrar {
 public:
  Registrar(Socket listener, std::string uid, Deadline deadline)
      : listener_(std::move(listener)), uid_(std::move(uid)), deadline_(deadline) {}

  void run() {
    while (size_ == 0 || peers_.size() < size_) {
      std::vector<pollfd> fds = {{listener_.fd(), POLLIN, 0}};
      for (const auto& [rank, socket] : sockets_) fds.push_back({socket.fd(), POLLRDHUP, 0});
      const auto left = deadline_ - std::chrono::steady_clock::now();
      const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
      if (left_ms <= 0) return tell_all(refusal(Result::kTimeout, missing()));
      poll(fds.data(), fds.size(), static_cast<int>(std::min<int64_t>(left_ms, 1000)));
      if (fds[0].revents != 0 && !take(listener_.accepted(deadline_))) return;
      size_t i = 1;
      for (const auto& [rank, socket] : sockets_) {
        if (i >= fds.size() || fds[i].fd != socket.fd()) break;  // one has come since
        if (fds[i++].revents == 0) continue;
        return tell_all(refusal(Result::kRemote, fmt::format("EI0006: {} has ended while the ranks were gathering",
                                                             describe(peers_.at(rank)))));
      }
    }
    json table = json::array();
    for (const Peer& peer : numbered()) table.push_back(to_json(peer));
    tell_all(json{{"peers", table}}.dump());
  }

 private:
  /// Ranks that came without a number get theirs by host and device.
  std::vector<Peer> numbered() const {
    std::vector<Peer> out;
    for (const auto& [rank, peer] : peers_) out.push_back(peer);
    if (std::ranges::any_of(out, [](const Peer& peer) { return peer.rank == kAnyRank; }))
      std::ranges::sort(out, {}, [](const Peer& peer) { return std::pair(peer.host, peer.device); });
    for (uint32_t rank = 0; rank < out.size(); ++rank) out[rank].rank = rank;
    return out;
  }
  /// False when the group has failed.
  bool take(Socket socket) {
    std::string text;
    const Deadline soon = std::min(deadline_, std::chrono::steady_clock::now() + std::chrono::seconds(5));
    if (!socket || !socket.send(json{{"registrar", uid_}}.dump()) || !socket.receive(&text, soon))
      return true;  // a port scanner, or somebody who gave up
    const json hello = json::parse(text, nullptr, false);
    if (!hello.is_object() || hello.value("uid", json()) != uid_) {
      socket.send(json{{"other", true}}.dump());
      return true;
    }
    try {
      const Peer peer = to_peer(hello.at("peer"));
      const uint32_t size = hello.at("size");
      const uint32_t place = peer.rank == kAnyRank ? static_cast<uint32_t>(peers_.size()) : peer.rank;
      const std::string wrong = check(hello.at("protocol"), size, peer, place);
      if (!wrong.empty()) {
        socket.send(refusal(Result::kParameter, wrong));
        tell_all(refusal(Result::kParameter, wrong));
        return false;
      }
      size_ = size;
      peers_.emplace(place, peer);
      sockets_.emplace(place, std::move(socket));
    } catch (const json::exception& error) {
      socket.send(refusal(Result::kParameter, fmt::format("EI0006: what came is no greeting: {}", error.what())));
    }
    return true;
  }

  std::string check(int protocol, uint32_t size, const Peer& peer, uint32_t place) const {
    if (protocol != kProtocol)
      return fmt::format(
          "EI0008: {} speaks version {}, the registrar {}; all ranks must run the same version of AnyNPU",
          describe(peer), protocol, kProtocol);
    if (size_ != 0 && size != size_)
      return fmt::format("EI0005: nRanks is {} for {}, and {} for {}", size, describe(peer), size_,
                         describe(peers_.begin()->second));
    for (const auto& [rank, other] : peers_)
      if (peer.rank == kAnyRank && other.host == peer.host && other.device == peer.device)
        return fmt::format("EI0005: device {} of host {} has come twice, in processes {} and {}; give each its own",
                           peer.device, peer.host, other.pid, peer.pid);
    if (place >= size) return fmt::format("EI0003: {} is outside a group of {} ranks", describe(peer), size);
    if (const auto known = peers_.find(place); known != peers_.end())
      return fmt::format("EI0005: rank {} has come twice: {} and {}; check RANK_ID", peer.rank, describe(known->second),
                         describe(peer));
    return "";
  }

  std::string missing() const {
    if (size_ == 0) return "EI0006: no rank has come";
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < size_; ++rank)
      if (!peers_.contains(rank)) ranks.push_back(rank);
    return fmt::format("EI0006: of {} ranks {} have come; missing: {}. HCCL_CONNECT_TIMEOUT sets the limit", size_,
                       peers_.size(), fmt::join(ranks, ", "));
  }

  void tell_all(const std::string& text) {
    for (const auto& [rank, socket] : sockets_) socket.send(text);
  }

  Socket listener_;
  const std::string uid_;
  const Deadline deadline_;
  uint32_t size_ = 0;  // known when the first has come
  std::map<uint32_t, Peer> peers_;
  std::map<uint32_t, Socket> sockets_;
};

}  // namespace

Place start_registrar(const std::string& uid, const std::string& address, uint16_t first, uint16_t last,
                      Deadline deadline) {
  Socket listener;
  for (uint32_t port = first; port <= last && !listener; ++port)
    listener = Socket::listener(address, static_cast<uint16_t>(port));
  if (!listener)
    fault(Result::kNetwork,
          "EI0019: ports {} to {} of {} are all in use; end the process that holds them (`ss -ltnp`), or "
          "set HCCL_IF_BASE_PORT",
          first, last, address);
  Place place{uid, address, listener.port()};
  auto registrar = std::make_shared<Registrar>(std::move(listener), uid, deadline);
  sigset_t all, before;  // signals are for the client's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([registrar] {
    pthread_setname_np(pthread_self(), "npu-registrar");
    registrar->run();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return place;
}

namespace {

enum class Heard { kNobody, kStranger, kOther, kTable };

/// Asks at one port.
Heard ask(const Place& place, uint16_t port, const std::string& hello, Deadline deadline, Group* group) {
  const Socket socket = Socket::connected(place.address, port, deadline);
  if (!socket) return Heard::kNobody;
  std::string text;
  if (!socket.receive(&text, std::min(deadline, std::chrono::steady_clock::now() + kGreeting))) return Heard::kStranger;
  const json greeting = json::parse(text, nullptr, false);
  if (!greeting.is_object() || !greeting.contains("registrar")) return Heard::kStranger;
  if (greeting["registrar"] != place.uid) return Heard::kOther;
  if (!socket.send(hello) || !socket.receive(&text, deadline + std::chrono::seconds(5))) return Heard::kNobody;
  const json answer = json::parse(text, nullptr, false);
  if (!answer.is_object()) return Heard::kNobody;
  try {
    if (answer.contains("refused"))
      throw Fault(static_cast<Result>(answer.at("result").get<int32_t>()), answer.at("refused").get<std::string>());
    if (!answer.contains("peers")) return Heard::kOther;
    std::vector<Peer> peers;
    for (const json& peer : answer.at("peers")) peers.push_back(to_peer(peer));
    group->peers = std::move(peers);
    return Heard::kTable;
  } catch (const json::exception&) {
    return Heard::kOther;  // something else listens there
  }
}

}  // namespace

Group register_rank(const Place& place, uint32_t size, const Peer& own, Deadline deadline) {
  const std::string hello =
      json{{"protocol", kProtocol}, {"uid", place.uid}, {"size", size}, {"peer", to_json(own)}}.dump();
  Group group{place.uid, "", {}};
  bool others = false;
  uint32_t stranger = 0;  // a port where no registrar answers
  while (std::chrono::steady_clock::now() < deadline) {
    for (uint16_t i = 0; i < place.ports; ++i) {
      const Heard heard = ask(place, static_cast<uint16_t>(place.port + i), hello, deadline, &group);
      if (heard == Heard::kTable) return group;
      others = others || heard == Heard::kOther;
      if (heard == Heard::kStranger) stranger = static_cast<uint32_t>(place.port + i);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::string hint;
  if (others)
    hint = " (another job gathers its ranks there; give each its own HCCL_IF_BASE_PORT)";
  else if (stranger != 0)
    hint = fmt::format(" (port {} is held by another program; HCCL_IF_BASE_PORT chooses others)", stranger);
  fault(Result::kTimeout,
        "EI0006: rank {} of {} got no answer at {} port {}{}: the rank that gathers the others has not started, has "
        "ended, or cannot be reached (firewall, HCCL_IF_IP). HCCL_CONNECT_TIMEOUT sets the limit",
        own.rank, size, place.address, place.port, hint);
}

}  // namespace npu::comm
