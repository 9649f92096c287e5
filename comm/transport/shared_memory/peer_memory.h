// SPDX-License-Identifier: Apache-2.0
// The device memory of peers, as this process sees it.
#pragma once

#include <cstddef>

#include "comm/core/group.h"
#include "comm/transport/shared_memory/board.h"

namespace npu::comm {

class Link;

/// Where `buffer` of `peer` lies for this process; null for a buffer without a name. `link` leads to the peer's
/// process, null for this one. A segment is mapped when it is first met, as long as the link lives. Raises kRemote when
/// its owner has ended, kMemory when there are no addresses left.
std::byte* address_in(const Peer& peer, Link* link, const BufferName& buffer);

/// The name of this process's own buffer; without one where its memory cannot be shared in one piece.
BufferName name_of(const void* buffer, size_t bytes);

}  // namespace npu::comm
