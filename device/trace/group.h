// SPDX-License-Identifier: Apache-2.0
// The communicators of the process, for recordings that begin after they were made.
#pragma once

#include <string_view>
#include <vector>

#include "device/trace/record.h"

namespace npu::device::trace {

/// This process has become `rank` of `size` ranks; see GroupRecord::members.
void joined(std::string_view name, std::string_view members, uint32_t rank, uint32_t size, int device);
/// All of them so far, also those it has left.
std::vector<GroupRecord> groups();
/// Writes them into the recording that has begun.
void tell_groups();

}  // namespace npu::device::trace
