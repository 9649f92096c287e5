// SPDX-License-Identifier: Apache-2.0
// How processes of one host hand each other memory: each listens at a unix socket in the user's runtime folder and
// gives descriptors of its arenas and boards to whoever asks. A process that can be reached there, and whose descriptor
// holds the identity it was announced with, is on this host. The connections also tell when a process ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "comm/core/group.h"

namespace npu::comm {

/// A connection to another process of this host. One for each process, shared by all communicators.
class Link {
 public:
  /// Connects to the process of `peer` and proves that it is that one. Null when it is not on this host.
  static std::shared_ptr<Link> to(const Peer& peer);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Where a segment of the process's device memory (device/memory/share.h) lies for this one: mapped when it is first
  /// asked for, as long as the link lives. Raises kRemote when the process has ended, kMemory when there are no
  /// addresses.
  std::span<std::byte> segment(uint64_t number);
  /// A descriptor of a board it made, the caller's own; -1 when it has not made it yet. Raises kRemote when it cannot.
  int fetch_board(const std::string& uid);
  const std::string& process() const { return peer_.process; }

 private:
  friend class HostService;
  Link(int fd, Peer peer) : fd_(fd), peer_(std::move(peer)) {}
  enum class What : uint32_t { kIdentity = 1, kSegment = 2, kBoard = 3 };
  struct Reply {
    int fd = -1;  ///< the caller's own
    size_t bytes = 0;
    std::string failure;
  };
  Reply ask(What what, uint64_t number, const std::string& uid);
  std::span<std::byte> map_segment(uint64_t number);

  std::mutex mutex_;  // one question at a time
  uint64_t questions_ = 0;
  const int fd_;
  const Peer peer_;  // one of the process's
  std::mutex mapping_;
  std::map<uint64_t, std::span<std::byte>> segments_;
};

/// This process's side.
class HostService {
 public:
  /// Started at the first use. Raises kUnavailable where no socket can be made.
  static HostService& get();

  const std::string& process() const { return process_; }
  const std::string& socket() const { return path_; }
  /// The same for processes of one machine whose sockets lie in one folder: they can share memory.
  const std::string& domain() const { return domain_; }
  /// ANYNPU_HOST.
  static std::string host();

  /// Gives copies of `fd` to those that ask for the board of `uid`, until it is withdrawn.
  void publish_board(const std::string& uid, int fd);
  void withdraw_board(const std::string& uid);
  /// From now on those that ask for the board hear why there is none.
  void publish_failure(const std::string& uid, const std::string& text);
  /// A descriptor of it for this process itself, the caller's own; -1 when it is not there.
  int board(const std::string& uid);

  /// Whether the link to a process has ended: most often with the process.
  bool has_ended(const std::string& process);

  /// Called in the service's thread twice a second, and with its identity when the link to a process has ended;
  /// `alive` where the process goes on.
  void set_hooks(void (*beat)(), void (*ended)(const std::string& process, bool alive));

  /// Its thread looks at the links anew: at those made since, and no longer at those that nobody else holds.
  void look_again();

  struct State;

 private:
  friend class Link;
  HostService();
  void run();

  std::string process_, path_, domain_;
  State* state_;  // as the thread, it lives as long as the process
};

}  // namespace npu::comm
