// SPDX-License-Identifier: Apache-2.0
// What ends with the process, after its communicators.
#pragma once

namespace npu::comm {

/// `last` is called when the process ends in peace and all its communicators have left.
void when_all_have_left(void (*last)());
/// Calls them. For whoever makes the communicators leave.
void all_have_left();

}  // namespace npu::comm
