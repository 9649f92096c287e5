// SPDX-License-Identifier: Apache-2.0
// Environment variables of NVIDIA's libraries, and what they come to on the NPU (rules/environment.tsv).
#pragma once

#include <string>
#include <string_view>

namespace npu::migrate {

struct EnvironmentVariable {
  std::string name;     ///< `*` stands for any characters
  std::string becomes;  ///< the NPU's variable of the same meaning, or ""
  std::string told;     ///< what else there is to say, or ""
};

/// The variable of that name, or null where it is none of NVIDIA's.
const EnvironmentVariable* environment_variable(std::string_view name);

}  // namespace npu::migrate
