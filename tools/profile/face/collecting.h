// SPDX-License-Identifier: Apache-2.0
// The options of msprof that collect, in the vendor's words.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "tools/profile/collect/collect.h"

namespace npu::profile {

class Collecting {
 public:
  explicit Collecting(CLI::App& app);

  /// Whether a program or a process is named.
  bool is_asked() const;
  /// Raises npu::Error for what contradicts itself.
  CollectRequest asked(const std::string& output) const;

 private:
  CLI::App& app_;
  std::string application_, dynamic_ = "off";
  int process_ = 0, delay_ = 0, duration_ = 0;
  std::map<std::string, std::string> options_;  ///< of PROFILING_OPTIONS
};

}  // namespace npu::profile
