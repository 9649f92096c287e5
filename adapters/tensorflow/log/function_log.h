// SPDX-License-Identifier: Apache-2.0
// The lines about functions that users of the vendor's adapter look for: added, compiled, run, compiled again.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "adapters/tensorflow/log/log.h"
#include "anynpu/graph.h"

namespace npu::tensorflow {

/// How many steps the program says a loop has (npu.set_npu_loop_size, NPU_LOOP_SIZE); 0 when it does not say.
int told_loop_size();

class FunctionLog {
 public:
  /// anynpu_library_watch calls this; `self` is a FunctionLog.
  static void compiled(const anynpu_compiled* one, void* self) noexcept;

  /// The function is gone.
  void forget(const std::string& function);
  /// Runs `run()` and tells about it where NPU_DEBUG or NPU_ENABLE_PERF ask for that.
  template <class Run>
  auto around(const char* function, Run&& run) {
    if (!tells()) [[likely]]
      return run();
    started(function);
    const auto start = std::chrono::steady_clock::now();
    auto result = run();
    ended(function, std::chrono::steady_clock::now() - start);
    return result;
  }

 private:
  struct Entry {
    int64_t graph = 0, runs = 0;
  };
  static bool tells();
  void added(const anynpu_compiled& one);
  void started(const std::string& function);
  void ended(const std::string& function, std::chrono::duration<double, std::milli> taken);

  std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> functions_;
};

}  // namespace npu::tensorflow
