// SPDX-License-Identifier: Apache-2.0
// Which address of this machine others are told to connect to, and connections with a time limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace npu::comm {

using Deadline = std::chrono::steady_clock::time_point;

/// HCCL_IF_IP; else the first address of the first network card that HCCL_SOCKET_IFNAME names ("eth", "=eth0,eth1",
/// "^docker", "^=eth9"); else of the first card that is neither docker* nor lo*, then docker*, then lo*. Addresses of
/// HCCL_SOCKET_FAMILY (AF_INET) go before those of the other family. Raises kParameter for values that mean nothing,
/// kNotFound where no card fits.
std::string own_address();

/// This machine's name.
std::string host_name();

/// Whether `text` is an IPv4 or IPv6 address.
bool is_address(const std::string& text);

/// Whether `address` is one of this machine's.
bool is_own_address(const std::string& address);
bool is_loopback(const std::string& address);
/// The address of a machine: `name` itself where it is one. Raises kNotFound.
std::string address_of_host(const std::string& name);
/// The network card with that address; "" for none.
std::string card_with(const std::string& address);
/// Whether HCCL_IF_IP or HCCL_SOCKET_IFNAME says which card to use.
bool chooses_card();

/// A TCP socket, closed with it.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  /// Listens at `address`. Port 0: any free one. Empty when the port is in use; raises kSystemCall otherwise.
  static Socket listener(const std::string& address, uint16_t port);
  uint16_t port() const;
  /// Of this side of a connection, and of the other.
  std::string own_address() const;
  std::string peer_address() const;
  /// Empty when nobody answers.
  static Socket connected(const std::string& address, uint16_t port, Deadline deadline);

  /// Waits for a connection until the deadline; empty when none comes.
  Socket accepted(Deadline deadline) const;
  /// One text, with its length before it. False when the other side is gone or the time is over.
  bool send(const std::string& text) const;
  bool receive(std::string* text, Deadline deadline) const;

 private:
  int fd_;
};

}  // namespace npu::comm
