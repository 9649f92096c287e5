// SPDX-License-Identifier: Apache-2.0
// A row of ops/cube/choices_table.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/dtype.h"
#include "ops/cube/cpu_class.h"

namespace npu::ops::cube {

enum class Work : uint8_t { kConvForward, kConvBackwardWeights, kProduct };

/// One row of the table: shapes of `least_rows` rows or more, up to those of the next row.
struct Choices {
  CpuClass cpu;
  Work work;
  DType dtype;
  bool variant;
  int64_t least_rows;
  /// By size of the weights: letter i for fewer than 2^(kFirstSize + i), the last for all above; `o` own kernels, `l`
  /// the library's.
  std::string_view ways;
};
inline constexpr int kFirstSize = 13;

}  // namespace npu::ops::cube
