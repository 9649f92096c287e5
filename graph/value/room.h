// SPDX-License-Identifier: Apache-2.0
// The memory of tensors that are to be made.
#pragma once

#include <cstdint>

#include "base/dims.h"
#include "base/dtype.h"

namespace npu::graph {

/// Bytes of a tensor with such elements and sizes. Raises 161002 for one that no process can address: sizes come from
/// models and scripts, and their product may pass what is counted with.
int64_t room_of(DType dtype, const Dims& shape);

}  // namespace npu::graph
