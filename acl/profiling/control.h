// SPDX-License-Identifier: Apache-2.0
// PROFILING_MODE=dynamic: collections begin and end when another process of this user says so (device/trace/control.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace npu::acl {

/// What is done; both answer with the folder of the collection, and raise why not.
struct Controlled {
  std::function<std::string(std::string_view options)> start;
  std::function<std::string()> stop;
};

/// Begins to listen, in a thread that lives as long as the process.
void listen_for_control(Controlled controlled);

}  // namespace npu::acl
