// SPDX-License-Identifier: Apache-2.0
// What phase 1 asks about the memory behind a tensor.
#pragma once

#include "base/tensor.h"

namespace npu::acl {

/// Raises 161002 unless all the view can touch is in one live block of device memory. `name` is the argument's. Then
/// makes `tensor.data` the address kernels use. Returns the device whose memory it is, -1 when the view holds no
/// element. The declared storageDims are not checked.
int check_memory(Tensor& tensor, const char* name);

/// Raises 161002 unless the memory of a tensor that was checked before is live still.
void check_still_live(const Tensor& tensor, const char* name);

}  // namespace npu::acl
