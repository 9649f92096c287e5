// SPDX-License-Identifier: Apache-2.0
#include "ops/cube/cpu_class.h"

namespace npu::ops::cube {

CpuClass cpu_class() { return CpuClass::kOther; }

}  // namespace npu::ops::cube
