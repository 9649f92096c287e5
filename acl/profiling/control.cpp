// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/control.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "acl/notice.h"
#include "base/error.h"
#include "device/trace/control.h"

namespace npu::acl {
namespace {

namespace trace = device::trace;

std::string answer(std::string_view line, const Controlled& controlled) {
  try {
    if (line.starts_with("start ")) return "ok " + controlled.start(line.substr(6));
    if (line == "stop") return "ok " + controlled.stop();
    return "error 'start {options}' and 'stop' are known";
  } catch (const std::exception& e) {
    return std::string("error ") + e.what();
  }
}

bool send_line(int client, std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  text += '\n';
  return send(client, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

/// Until the client goes; a collection that it began runs on.
void serve(int client, const Controlled& controlled) {
  constexpr size_t kLongestLine = 64 << 10;
  std::string open;
  char bytes[4096];
  for (ssize_t count = 0; open.size() < kLongestLine && (count = recv(client, bytes, sizeof bytes, 0)) > 0;) {
    open.append(bytes, static_cast<size_t>(count));
    for (size_t end = 0; (end = open.find('\n')) != std::string::npos; open.erase(0, end + 1))
      if (!send_line(client, answer(std::string_view(open).substr(0, end), controlled))) return;
  }
}

void accept_clients(int listener, const Controlled& controlled) {
  for (;;) {
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0 && errno != EINTR && errno != ECONNABORTED) return;
    if (client < 0) continue;
    if (trace::same_user(client, geteuid())) serve(client, controlled);
    close(client);
  }
}

}  // namespace

void listen_for_control(Controlled controlled) {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto [address, size] = trace::control_address(getpid());
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(listener, 4) != 0) {
    tell_once(
        fmt::format("PROFILING_MODE=dynamic: this process cannot be asked for records: {}", std::strerror(errno)));
    if (listener >= 0) close(listener);
    return;
  }
  std::thread(accept_clients, listener, std::move(controlled)).detach();
}

}  // namespace npu::acl
