// SPDX-License-Identifier: Apache-2.0
#include "device/memory/block.h"

#include <fmt/format.h>

namespace npu::device {

bool detail::guard_mode = false;
constinit std::atomic<uint64_t> detail::block_generation{0};

std::string detail::to_size(size_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  const double value = static_cast<double>(bytes);
  if (value < 0x1p20) return fmt::format("{:.1f} KiB", value * 0x1p-10);
  return value < 0x1p30 ? fmt::format("{:.1f} MiB", value * 0x1p-20) : fmt::format("{:.2f} GiB", value * 0x1p-30);
}

}  // namespace npu::device
