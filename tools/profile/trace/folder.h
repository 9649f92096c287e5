// SPDX-License-Identifier: Apache-2.0
// A PROF_* folder as a profiled process left it (device/trace/record.h), in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/trace/record.h"

namespace npu::profile {

using device::trace::CallRecord;
using device::trace::GraphRecord;
using device::trace::GroupRecord;
using device::trace::LinkRecord;
using device::trace::MarkRecord;
using device::trace::MemoryRecord;
using device::trace::TaskRecord;

/// Records in the order of their starts, of those that start at once the longest first. Times are nanoseconds since
/// 1970, of the clock that people read.
struct Trace {
  uint32_t process = 0;
  int64_t begin = 0;         ///< of the collection
  std::string soc;           ///< that the process claimed to run on; "": it is not known
  int64_t rank = -1;         ///< of the process; -1: it is none, or not known
  bool is_of_torch = false;  ///< its profiler keeps records of its own beside these, of groups too
  std::vector<CallRecord> calls;
  std::map<int, std::vector<TaskRecord>> tasks;  ///< by device; one without tasks has an empty list
  std::vector<MarkRecord> marks;                 ///< of the client
  std::vector<MarkRecord> modules;  ///< of ours: for which module a thread works from then on (device/trace/module.h)
  std::vector<MemoryRecord> memory;
  std::vector<GraphRecord> graphs;            ///< what the host did for graphs
  std::vector<GroupRecord> groups;            ///< communicators
  std::vector<LinkRecord> links;              ///< what collectives carried between ranks
  std::string forward_point, backward_point;  ///< names of operators that the client gave; "": none
  std::string_view text(uint32_t number) const;

  /// visit(device, task, connection) for each task in order. A connection is a number from 1 on that leads from a call
  /// to its task, the same in all files.
  template <class Visit>
  void each_task(Visit&& visit) const {
    uint64_t connection = 0;
    for (const auto& [device, all] : tasks)
      for (const TaskRecord& task : all) visit(device, task, ++connection);
  }

  std::vector<std::string> texts;  ///< the one of number n at n - 1
};

/// Whether it is one of ours: of another kind is what the vendor's driver wrote.
bool is_collection(const std::filesystem::path& folder);
/// `place` itself, or the collections in it by their names; raises npu::Error where there are none.
std::vector<std::filesystem::path> collections_in(const std::filesystem::path& place);
/// Raises npu::Error for a folder that is none, or of another version. Records that a dying process left open are
/// dropped.
Trace read_folder(const std::filesystem::path& folder);

/// Whether it meets other ranks, or computes; copies and waits do neither.
inline bool is_collective(const TaskRecord& task) { return task.unit == device::trace::Unit::kCollective; }
inline bool computes(const TaskRecord& task) { return task.unit != device::trace::Unit::kNone && !is_collective(task); }

/// A name of a call as the vendor's tables have it.
std::string name_of(const Trace& trace, const CallRecord& call);
/// GraphPasses and GraphPlan of what compiles, HostNode_Unique of a node of that type: what tables of calls have beside
/// the client's.
std::string name_of(const Trace& trace, const GraphRecord& work);
/// "step" of __inference_step_59: frameworks number what they trace.
std::string function_of(std::string_view graph);
/// Why a graph was compiled; "" of a node.
std::string_view words_of(device::trace::Need need);
inline bool compiles(const GraphRecord& work) { return work.work != device::trace::HostWork::kNode; }

/// The number that stands for a communicator in the vendor's files of collectives, by which its analysers look it up.
uint64_t number_of_group(std::string_view name);

/// The client's name of a task; of a collective as the vendor's tools match it between ranks, hcom_allReduce__{the last
/// three digits of the communicator's number}_{number}_1.
std::string name_of(const Trace& trace, const TaskRecord& task);
/// AI_CORE, AI_VECTOR_CORE, MIX_AIC, COMMUNICATION; N/A of a copy or a wait.
std::string_view unit_name(const TaskRecord& task);

}  // namespace npu::profile
