// SPDX-License-Identifier: Apache-2.0
// What a call of the host is for.
#pragma once

#include "tools/profile/trace/folder.h"

namespace npu::profile {

enum class Purpose : uint8_t {
  kQueue,   ///< work for the device, or asks something
  kWait,    ///< until the device has done what was queued
  kCopy,    ///< between host and device; returns when the bytes are there
  kRun,     ///< runs a graph in the thread that calls
  kDefine,  ///< hands a function over, which is compiled when it first runs
};

Purpose purpose_of(const Trace& trace, const CallRecord& call);

}  // namespace npu::profile
