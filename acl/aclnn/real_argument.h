// SPDX-License-Identifier: Apache-2.0
// Numbers whose width the vendor's documentation and its clients disagree on: the word `real` of the tables.
#pragma once

#include <bit>
#include <cstdint>

namespace npu::acl {

/// What the caller meant by an argument declared double. One compiled for a float leaves it in the lower half of the
/// same register, and a register that is loaded with a float has an upper half of zeros. A double has such a half only
/// when it is 0 or below 1e-312. The ABI promises no zeros: a float that was computed in place of a double may carry
/// the double's upper half, and is then read as that double. Callers compiled with our header pass a double.
inline double real_argument(double given) {
  const auto bits = std::bit_cast<uint64_t>(given);
  if (bits >> 32 != 0) return given;
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
}

}  // namespace npu::acl
