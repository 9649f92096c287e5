// SPDX-License-Identifier: Apache-2.0
// What an Opdebug file holds for tools that look for overflows: 2,048 bytes that name the task and what went wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace npu::graph::record {

inline constexpr size_t kOverflowBytes = 2048;

/// Which part of the device computed it.
enum class Unit : uint32_t { kAiCore = 0, kSdma = 3 };

// What the status of an AI Core says.
inline constexpr uint64_t kFloatOverflow = 0x20;
inline constexpr uint64_t kHalfOverflow = 0x100;  ///< a conversion to float16
// What the status of a sum on its way between devices says.
inline constexpr uint64_t kSumOverflow = 0x900, kSumNan = 0xC00;

struct OverflowRecord {
  Unit unit = Unit::kAiCore;
  uint64_t model = 0;  ///< the number of the graph, as the dump's folders have it; 0 outside of graphs
  uint64_t stream = 0, task = 0;
  uint64_t status = 0;
};

/// A payload with this one record, of the layout with a magic number in front (version 1).
std::array<std::byte, kOverflowBytes> encode_overflow(const OverflowRecord& record);

}  // namespace npu::graph::record
