// SPDX-License-Identifier: Apache-2.0
// What the SoC in force refuses of collectives. Types that it does not have are always refused; what only its
// collectives do not take (types, numbers of ranks, two ranks on one device) under ANYNPU_STRICT_DEVICE.
#pragma once

#include "comm/core/call.h"
#include "comm/core/group.h"
#include "device/process/soc.h"

namespace npu::comm {

/// Raises kUnsupported, "EI0003: …", for elements that the SoC's collective does not take.
void check_soc_types(const Call& call);
/// Raises kParameter, "EI0003: …", for ranks between which the SoC has no collectives.
void check_soc_group(const Group& group);

namespace detail {
void check_soc_types(const Call& call, const device::Soc& soc, bool strict);
void check_soc_group(const Group& group, const device::Soc& soc, bool strict);
}  // namespace detail

}  // namespace npu::comm
