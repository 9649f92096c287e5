// SPDX-License-Identifier: Apache-2.0
// A bar on the terminal that shows how far a run is; nothing where stderr is no terminal.
#pragma once

#include <chrono>
#include <cstddef>

namespace npu::migrate {

class Progress {
 public:
  explicit Progress(size_t total);
  Progress(const Progress&) = delete;
  ~Progress();  ///< takes the bar away
  /// One more is done. Called by one thread at a time.
  void step();

 private:
  void draw();
  const size_t total_;
  const bool shown_;
  size_t done_ = 0;
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace npu::migrate
