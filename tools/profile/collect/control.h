// SPDX-License-Identifier: Apache-2.0
// What is said to a process that was started with PROFILING_MODE=dynamic (device/trace/control.h).
#pragma once

#include <sys/types.h>

#include <string>

namespace npu::profile {

class Control {
 public:
  explicit Control(pid_t process) : process_(process) {}
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// False as long as the process does not listen: it has used no NPU yet, or was started without the variable.
  bool connect();
  /// Both answer with the folder of the collection; raise npu::Error with the reason of the process, or where it is
  /// gone.
  std::string start(const std::string& options) { return ask("start " + options); }
  std::string stop() { return ask("stop"); }

 private:
  std::string ask(const std::string& line);

  const pid_t process_;
  int socket_ = -1;
};

}  // namespace npu::profile
