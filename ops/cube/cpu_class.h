// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace npu::ops::cube {

/// CPUs for which ways to compute were measured (choices.h).
enum class CpuClass : uint8_t { kZen4, kZen5, kOther };

CpuClass cpu_class();
const char* name_of(CpuClass cpu);

}  // namespace npu::ops::cube
