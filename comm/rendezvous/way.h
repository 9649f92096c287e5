// SPDX-License-Identifier: Apache-2.0
// Which way this process's data goes to other hosts: the wire, with the settings of this process.
#pragma once

#include <string>

#include "comm/transport/ucx/wire.h"

namespace npu::comm {

/// Opened by the first call, on the card that HCCL_IF_IP or HCCL_SOCKET_IFNAME chooses; else on that with address
/// `own`, over which the ranks have met; and on those for RDMA. Raises kUnsupported without UCX, kNetwork, kParameter.
Wire& opened_wire(const std::string& own);

}  // namespace npu::comm
