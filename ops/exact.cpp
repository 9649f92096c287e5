// SPDX-License-Identifier: Apache-2.0
#include "ops/exact.h"

namespace npu::ops::detail {

NPU_SETTING(bool, exact_setting, "ANYNPU_EXACT", false,
            "Compute exactly inside the operators in which the device rounds, instead of rounding as it does.");

}  // namespace npu::ops::detail
