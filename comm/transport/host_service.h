// SPDX-License-Identifier: Apache-2.0
// How processes of one host hand each other memory: each listens at a unix socket in the user's runtime folder and
// gives descriptors of its arenas and boards to whoever asks. A process that can be reached there, and whose descriptor
// holds the identity it was announced with, is on this host. The connections also tell when a process ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "comm/group.h"

namespace npu::comm {

/// A connection to another process of this host. One for each process, shared by all communicators.
class Link {
 public:
  /// Connects to the process of `peer` and proves that it is that one. Null when it is not on this host.
  static std::shared_ptr<Link> to(const Peer& peer);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// A descriptor of the process's segment (device/share.h) and its size; the caller owns it. Raises kRemote.
  int fetch_segment(uint64_t segment, size_t* bytes);
  /// A descriptor of a board it made; -1 when it has not made it yet.
  int fetch_board(const std::string& uid);
  const std::string& process() const { return process_; }

 private:
  friend class HostService;
  Link(int fd, std::string process) : fd_(fd), process_(std::move(process)) {}
  enum class What : uint32_t { kIdentity = 1, kSegment = 2, kBoard = 3 };
  int ask(What what, uint64_t number, const std::string& uid, size_t* bytes);

  std::mutex mutex_;  // one question at a time
  uint64_t questions_ = 0;
  const int fd_;
  const std::string process_;
};

/// This process's side.
class HostService {
 public:
  /// Started at the first use. Raises kUnavailable where no socket can be made.
  static HostService& get();

  const std::string& process() const { return process_; }
  const std::string& socket() const { return path_; }

  /// Gives copies of `fd` to those that ask for the board of `uid`, until it is withdrawn.
  void publish_board(const std::string& uid, int fd);
  void withdraw_board(const std::string& uid);
  /// A descriptor of it for this process itself, the caller's own; -1 when it is not there.
  int board(const std::string& uid);

  /// Whether a process that this one was linked with has ended.
  bool has_ended(const std::string& process);

  /// Called in the service's thread twice a second, and with its identity when a linked process has ended.
  void set_hooks(void (*beat)(), void (*ended)(const std::string& process));

  struct State;

 private:
  friend class Link;
  HostService();
  void run();

  std::string process_, path_;
  State* state_;  // as the thread, it lives as long as the process
};

}  // namespace npu::comm
