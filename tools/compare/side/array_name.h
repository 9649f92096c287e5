// SPDX-License-Identifier: Apache-2.0
// Names of arrays that a framework's run leaves: `{operator}.{output}.{microseconds}.npy`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace npu::compare {

struct ArrayName {
  std::string op;
  size_t output = 0;
  uint64_t timestamp = 0;
};
/// Nothing for a name of another kind.
std::optional<ArrayName> parse_array_name(std::string_view file);

}  // namespace npu::compare
