// SPDX-License-Identifier: Apache-2.0
// One message over a unix socket, with a descriptor beside it.
#pragma once

#include <cstddef>

namespace npu::comm {

/// Sends `bytes` and, if not negative, a copy of the descriptor. False when the other side is gone.
bool send_packet(int socket, const void* data, size_t bytes, int fd);
/// Receives exactly `bytes`; `fd` gets a descriptor that came along, or -1. False on end, error or another size.
bool receive_packet(int socket, void* data, size_t bytes, int* fd);

}  // namespace npu::comm
