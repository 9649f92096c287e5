// SPDX-License-Identifier: Apache-2.0
// Whether operators compute exactly where the device rounds inside them. Only roundings that a test or a page of the
// vendor states are imitated; docs/precision.md lists them.
#pragma once

#include "base/setting.h"

namespace npu::ops {

namespace detail {
extern Setting<bool> exact_setting;  // ANYNPU_EXACT
}

/// True under ANYNPU_EXACT=1: float32 inside, rounded once at the end.
inline bool is_exact() { return detail::exact_setting(); }

}  // namespace npu::ops
