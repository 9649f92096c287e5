// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "base/setting.h"
#include "comm/core/fault.h"

namespace npu::comm {
namespace {

NPU_SETTING(std::string, wanted_address, "HCCL_IF_IP", "", "The address of this machine that other ranks connect to.");
NPU_SETTING(std::string, wanted_cards, "HCCL_SOCKET_IFNAME", "",
            "Network cards that ranks may use: beginnings of names, joined by commas; = before them: whole names; ^ "
            "before all: any others.");
NPU_SETTING(std::string, wanted_family, "HCCL_SOCKET_FAMILY", "AF_INET",
            "AF_INET or AF_INET6: which addresses are taken first.");

constexpr uint32_t kLongest = 64u << 20;  // of a text; tables of thousands of ranks are far below

struct CardAddress {
  std::string card, text;
  int family;
};

std::vector<CardAddress> card_addresses() {
  std::vector<CardAddress> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    char text[INET6_ADDRSTRLEN] = {};
    if (family == AF_INET)
      inet_ntop(family, &reinterpret_cast<sockaddr_in*>(each->ifa_addr)->sin_addr, text, sizeof(text));
    else if (family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<sockaddr_in6*>(each->ifa_addr)->sin6_addr))
      inet_ntop(family, &reinterpret_cast<sockaddr_in6*>(each->ifa_addr)->sin6_addr, text, sizeof(text));
    if (text[0] != '\0') out.push_back({each->ifa_name, text, family});
  }
  freeifaddrs(list);
  return out;
}

int card_class(const std::string& card) { return card.starts_with("lo") ? 2 : card.starts_with("docker") ? 1 : 0; }

bool named(const std::string& list, const std::string& card) {
  std::string_view rest = list;
  const bool others = rest.starts_with('^');
  if (others) rest.remove_prefix(1);
  const bool whole = rest.starts_with('=');
  if (whole) rest.remove_prefix(1);
  std::istringstream names{std::string(rest)};
  bool found = false;
  for (std::string name; std::getline(names, name, ',');) {
    if (name.empty())
      fault(Result::kParameter, "EI0001: HCCL_SOCKET_IFNAME is '{}': a name between commas is empty", list);
    found = found || (whole ? card == name : card.starts_with(name));
  }
  return found != others;
}

int first_family() {
  const std::string& family = wanted_family();
  if (family == "AF_INET") return AF_INET;
  if (family == "AF_INET6") return AF_INET6;
  fault(Result::kParameter, "EI0001: HCCL_SOCKET_FAMILY is '{}'; it is AF_INET or AF_INET6", family);
}

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  Address(const std::string& text, uint16_t port) {
    auto* four = reinterpret_cast<sockaddr_in*>(&storage);
    auto* six = reinterpret_cast<sockaddr_in6*>(&storage);
    if (inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
      four->sin_family = AF_INET;
      four->sin_port = htons(port);
      length = sizeof(sockaddr_in);
    } else if (inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
      six->sin6_family = AF_INET6;
      six->sin6_port = htons(port);
      length = sizeof(sockaddr_in6);
    } else {
      fault(Result::kParameter, "EI0001: '{}' is no IPv4 or IPv6 address", text);
    }
  }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

int left_ms(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000'000));
}

/// Of one side of a connection, as a number.
std::string address_by(int (*side)(int, sockaddr*, socklen_t*), int fd) {
  sockaddr_storage found{};
  socklen_t length = sizeof(found);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (side(fd, reinterpret_cast<sockaddr*>(&found), &length) == 0)
    getnameinfo(reinterpret_cast<sockaddr*>(&found), length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return text.data();
}

bool ready(int fd, short events, Deadline deadline) {
  pollfd one{fd, events, 0};
  int got;
  do got = poll(&one, 1, left_ms(deadline));
  while (got < 0 && errno == EINTR);
  return got > 0;
}

bool receive_all(int fd, void* data, size_t bytes, Deadline deadline) {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    if (!ready(fd, POLLIN, deadline)) return false;
    const ssize_t got = recv(fd, to, bytes, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

std::string own_address() {
  if (!wanted_address().empty()) {
    Address(wanted_address(), 0);  // refuses what is no address
    return wanted_address();
  }
  std::vector<CardAddress> cards = card_addresses();
  if (!wanted_cards().empty())
    std::erase_if(cards, [](const CardAddress& each) { return !named(wanted_cards(), each.card); });
  if (cards.empty())
    fault(Result::kNotFound, "EI0001: no network card fits HCCL_SOCKET_IFNAME '{}'; `ip -brief address` lists them",
          wanted_cards());
  const int family = first_family();
  const auto rank = [&](const CardAddress& each) {
    return std::tuple(wanted_cards().empty() ? card_class(each.card) : 0, each.card, each.family != family);
  };
  return std::ranges::min_element(cards, {}, rank)->text;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool is_address(const std::string& text) {
  in6_addr unused;
  return inet_pton(AF_INET, text.c_str(), &unused) == 1 || inet_pton(AF_INET6, text.c_str(), &unused) == 1;
}

bool is_own_address(const std::string& address) {
  return std::ranges::any_of(card_addresses(), [&](const CardAddress& each) { return each.text == address; });
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

std::string card_with(const std::string& address) {
  for (const CardAddress& each : card_addresses())
    if (each.text == address) return each.card;
  return "";
}

bool chooses_card() { return !wanted_address().empty() || !wanted_cards().empty(); }

std::string address_of_host(const std::string& name) {
  if (is_address(name)) return name;
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = first_family();
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (error != 0)
    fault(Result::kNotFound, "EI0006: the address of host '{}' is not known ({}); give its address instead of its name",
          name, gai_strerror(error));
  std::array<char, INET6_ADDRSTRLEN> text{};
  getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  freeaddrinfo(found);
  return text.data();
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

Socket Socket::listener(const std::string& address, uint16_t port) {
  Address where(address, port);
  Socket out(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (out) setsockopt(out.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (out && bind(out.fd(), where.get(), where.length) == 0 && listen(out.fd(), 1024) == 0) return out;
  if (errno == EADDRINUSE) return Socket();
  fault(Result::kSystemCall,
        "EI0020: listening at {} port {} failed: {}; HCCL_IF_IP and HCCL_SOCKET_IFNAME choose the "
        "address",
        address, port, std::strerror(errno));
}

uint16_t Socket::port() const {
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &length);
  return ntohs(own.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&own)->sin_port
                                        : reinterpret_cast<sockaddr_in6*>(&own)->sin6_port);
}

std::string Socket::own_address() const { return address_by(getsockname, fd_); }

std::string Socket::peer_address() const { return address_by(getpeername, fd_); }

Socket Socket::connected(const std::string& address, uint16_t port, Deadline deadline) {
  Address where(address, port);
  Socket out(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out) return out;
  if (connect(out.fd(), where.get(), where.length) != 0) {
    int error = errno == EINPROGRESS ? 0 : errno;
    socklen_t length = sizeof(error);
    if (error == 0 && ready(out.fd(), POLLOUT, deadline))
      getsockopt(out.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
    else if (error == 0)
      error = ETIMEDOUT;
    if (error != 0) return Socket();
  }
  const int on = 1;
  setsockopt(out.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return out;
}

Socket Socket::accepted(Deadline deadline) const {
  if (!ready(fd_, POLLIN, deadline)) return Socket();
  return Socket(accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

bool Socket::send(const std::string& text) const {
  const auto length = static_cast<uint32_t>(text.size());
  std::string packet(reinterpret_cast<const char*>(&length), sizeof(length));
  packet += text;
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (size_t at = 0; at < packet.size();) {
    const ssize_t sent = ::send(fd_, packet.data() + at, packet.size() - at, MSG_NOSIGNAL);
    if (sent > 0)
      at += static_cast<size_t>(sent);
    else if (errno == EINTR)
      continue;
    else if (errno != EAGAIN || !ready(fd_, POLLOUT, deadline))
      return false;
  }
  return true;
}

bool Socket::receive(std::string* text, Deadline deadline) const {
  uint32_t length = 0;
  if (!receive_all(fd_, &length, sizeof(length), deadline) || length > kLongest) return false;
  text->resize(length);
  return receive_all(fd_, text->data(), length, deadline);
}

}  // namespace npu::comm
