// SPDX-License-Identifier: Apache-2.0
// Cutting work into parts.
#pragma once

#include <cstdint>

namespace npu {

/// a / b, rounded up, for a >= 0 and b > 0.
constexpr int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// The least multiple of `b` that is not below `a`.
constexpr int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

/// Into how many parts of `least` or more each `size` is cut, `most` at most: a power of two, so that two and four
/// threads end together.
constexpr int64_t even_parts(int64_t most, int64_t size, int64_t least) {
  int64_t parts = 1;
  while (parts * 2 <= most && size / (parts * 2) >= least) parts *= 2;
  return parts;
}

}  // namespace npu
