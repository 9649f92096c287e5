// SPDX-License-Identifier: Apache-2.0
// How `msprof --dynamic=on` speaks with a process that was started with PROFILING_MODE=dynamic: over a socket of the
// abstract name space, which goes with its process. Lines: "start {options}" and "stop", each answered by a line,
// "ok FOLDER" or "error REASON". Both sides refuse whom another user runs.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <string>
#include <utility>

namespace npu::device::trace {

/// The address of process `pid`, and its length.
inline std::pair<sockaddr_un, socklen_t> control_address(int pid) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "anynpu-profiling-" + std::to_string(pid);
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // behind a null: abstract
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

/// Whether this user runs the other end.
inline bool same_user(int socket, unsigned user) {
  ucred other{};
  socklen_t size = sizeof other;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == user;
}

}  // namespace npu::device::trace
