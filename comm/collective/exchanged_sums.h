// SPDX-License-Identifier: Apache-2.0
// Sums for all ranks of several hosts, in one meeting of the hosts: each passes its own to every other one, and all add
// them up in the same order. The way over slices adds up, and with more than two hosts sends, less; it meets twice.
#pragma once

#include "comm/collective/between.h"

namespace npu::comm {

/// Whether this way is the better one for a call; the same on all ranks.
bool exchanges_sums(const Meeting& meeting);
/// The same for a call of so many bytes of which hosts pass sums.
bool exchanges_sums(uint64_t bytes, uint32_t hosts);

/// What a rank does in it.
void exchange_sums(Meeting& meeting);

}  // namespace npu::comm
