// SPDX-License-Identifier: Apache-2.0
// PROFILING_MODE=dynamic: collections begin and end when another process of this user says so (device/trace/control.h).
#pragma once

namespace npu::acl {

/// Begins to listen, in a thread that lives as long as the process; `device` is the first one that is used.
void listen_for_control(int device);

}  // namespace npu::acl
