// SPDX-License-Identifier: Apache-2.0
// One profiling of this process: from aclprofInit to aclprofFinalize, with as many collections between as the client
// starts. Each collection has a folder PROF_* of its own (device/trace/record.h says what is written there while it
// runs); `msprof --export` makes the tables and timelines of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npu::acl {

/// What to collect. `kinds` are ACL_PROF_* bits: tasks are always written; their shapes with ACL_PROF_TASK_TIME, calls
/// of the host with ACL_PROF_ACL_API, marks of clients with ACL_PROF_MSPROFTX.
struct CollectionRequest {
  std::vector<int> devices;
  uint64_t kinds = 0;
  std::string options = {};  ///< kept in host/sample.json for the tools that read the collection; "": none
};
inline constexpr uint64_t kCollectCalls = 0x0001, kCollectShapes = 0x0002, kCollectMarks = 0x0080;

/// Below `folder`, which must be one that can be written to: 100000 otherwise, 100002 when called before.
void open_profiling(std::string_view folder);
/// 100001 before open_profiling; 100042 while a collection runs; 107001 for a device that does not exist.
void start_collection(const CollectionRequest& request);
/// 100043 when none runs.
void stop_collection();
/// Ends a collection that runs, too. 100037 when nothing is open.
void close_profiling();
/// The same as the process ends, for what may have been closed by then.
void end_profiling();

bool is_collecting();
/// Another device joins the collection that runs; false when none does.
bool join_collection(int device);

/// The folder of the last collection; "" before the first.
std::string collection_folder();

}  // namespace npu::acl
