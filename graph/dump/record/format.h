// SPDX-License-Identifier: Apache-2.0
// How the elements of a tensor lie in memory, as dump files number it (ge.proto).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace npu::graph::record {

// Those that the code asks for; the table in format.cpp has all.
enum Format : int32_t {
  kNchw = 0,
  kNhwc = 1,
  kNd = 2,
  kNc1hwc0 = 3,
  kFractalZ = 4,
  kHwcn = 16,
  kNdhwc = 27,
  kFractalNz = 29,
  kNcdhw = 30,
  kDhwcn = 31,
  kNdc1hwc0 = 32,
  kReserved = 40,
};

/// "NC1HWC0"; "UNKNOWN" for a number that nobody defined.
std::string_view format_name(int32_t number);
/// The number of a name, in any case of letters.
std::optional<int32_t> find_format(std::string_view name);

}  // namespace npu::graph::record
