// SPDX-License-Identifier: Apache-2.0
// Profiling of a whole process, asked for beside the program: PROFILING_MODE and PROFILING_OPTIONS, the "profiler"
// object of aclInit's file, profiling_config of TensorFlow's adapter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "acl/profiling/control.h"
#include "base/json.h"

namespace npu::acl {

struct ProfilingOptions {
  std::string output = "./";
  uint64_t kinds = 0;  ///< as CollectionRequest's
  std::string text;    ///< as it was written, for the tools that read the collection
};

/// Raises 100006 for what is no JSON object and 100000 for a value that cannot be, both with `origin` and the key; what
/// cannot be recorded here is told once.
ProfilingOptions parse_profiling_options(std::string_view text, const std::string& origin);

/// The "profiler" object of aclInit's file; what it asks for begins with the first device.
void keep_profiler_section(const Json& section, const std::string& name);

/// A device is used from now on: begins what was asked for, once.
void profile_device(int device);
/// How another process begins and ends collections, `device` the first one of this process.
Controlled controlled(int device);
/// Of collections by aclprofStart, too, which name the devices of their own.
void let_later_devices_join();
/// Begins it by these options, unless a collection runs.
void profile_by(const ProfilingOptions& options, int device);

}  // namespace npu::acl
