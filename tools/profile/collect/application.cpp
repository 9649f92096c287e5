// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/collect/application.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "base/error.h"

namespace npu::profile {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Whether `name=value` is one of the variables that replace it.
bool replaced(std::string_view variable, const std::vector<std::string>& by) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  for (const std::string& one : by)
    if (one.starts_with(name)) return true;
  return false;
}

}  // namespace

Application::Application(const std::vector<std::string>& command, const std::vector<std::string>& variables,
                         bool without_input) {
  std::vector<std::string> words = command, environment = variables;
  for (char** at = environ; *at != nullptr; ++at)
    if (!replaced(*at, variables)) environment.emplace_back(*at);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (without_input) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  const int error =
      posix_spawnp(&pid_, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(Code::kInvalidParam, "{} cannot be started: {}", words[0], std::strerror(error));
}

std::optional<int> Application::look(int flags) {
  int status = 0;
  while (!code_) {
    const pid_t ended = waitpid(pid_, &status, flags);
    if (ended == 0) break;
    if (ended < 0 && errno == EINTR) continue;
    code_ = ended < 0 ? 1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return code_;
}

std::optional<int> Application::wait_for(int milliseconds) {
  constexpr int kLook = 20;
  for (int waited = 0; !look(WNOHANG) && waited < milliseconds; waited += kLook)
    std::this_thread::sleep_for(std::chrono::milliseconds(kLook));
  return code_;
}

int Application::wait() { return *look(0); }

}  // namespace npu::profile
