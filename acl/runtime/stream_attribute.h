// SPDX-License-Identifier: Apache-2.0
// Attributes of streams, by number (aclrtSetStreamAttribute) and by functions of their own.
#pragma once

#include <cstdint>

namespace npu::device {
class Stream;
}

namespace npu::acl {

/// Raises 107000, naming `argument`, for what is no mode.
void set_failure_mode(device::Stream& stream, uint64_t mode, const char* argument);

/// The handle of a stream has ended.
void forget_attributes(const void* stream);

}  // namespace npu::acl
