// SPDX-License-Identifier: Apache-2.0
// A program that is started to be profiled: it records itself (PROFILING_MODE, PROFILING_OPTIONS).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace npu::profile {

/// A child process, which gets what the user types for it (Ctrl-C).
class Application {
 public:
  /// Starts `command` with `variables` ("NAME=value") added to the environment, and without input where that is
  /// somebody else's. Raises npu::Error when it cannot.
  Application(const std::vector<std::string>& command, const std::vector<std::string>& variables, bool without_input);
  ~Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  pid_t pid() const { return pid_; }
  /// Its exit code as a shell tells it, once it has ended; waits at most so long.
  std::optional<int> wait_for(int milliseconds);
  int wait();

 private:
  std::optional<int> look(int flags);

  pid_t pid_ = 0;
  std::optional<int> code_;
};

}  // namespace npu::profile
