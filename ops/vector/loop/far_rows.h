// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace npu::ops {

/// Rows that lie apart from each other are no stream that a processor foresees: they are asked for some rows before
/// they are read.
inline constexpr int64_t kRowsAhead = 8;
/// A tensor of fewer bytes is near enough without: the second-level cache holds most of it.
inline constexpr int64_t kFarBytes = int64_t{1} << 22;

/// Begins to load a row, which may lie beyond the last one.
inline void fetch_row(const std::byte* row, int64_t bytes) {
  constexpr int64_t kLine = 64, kMost = 16 * kLine;
  for (int64_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(row + at);
}

}  // namespace npu::ops
