// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/collect/control.h"

#include <unistd.h>

#include "base/error.h"
#include "device/trace/control.h"

namespace npu::profile {

namespace trace = device::trace;

Control::~Control() {
  if (socket_ >= 0) close(socket_);
}

bool Control::connect() {
  if (socket_ >= 0) return true;
  const auto [address, size] = trace::control_address(process_);
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return false;
  if (::connect(made, reinterpret_cast<const sockaddr*>(&address), size) == 0 && trace::same_user(made, geteuid()))
    socket_ = made;
  else
    close(made);
  return socket_ >= 0;
}

std::string Control::ask(const std::string& line) {
  if (!connect())
    fail(Code::kInvalidParam,
         "process {} does not listen; start it with PROFILING_MODE=dynamic, and wait until it has used an NPU",
         process_);
  const std::string text = line + '\n';
  std::string told;
  bool whole = send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  for (char c = 0; whole && c != '\n'; whole = recv(socket_, &c, 1, 0) == 1) {
    if (c != 0) told += c;
  }
  if (!whole) fail(Code::kInvalidParam, "process {} has ended; its records are where it was told to write", process_);
  if (!told.starts_with("ok ")) fail(Code::kInvalidParam, "process {}: {}", process_, told.substr(told.find(' ') + 1));
  return told.substr(3);
}

}  // namespace npu::profile
