// SPDX-License-Identifier: Apache-2.0
// Why a device had nothing to do.
#pragma once

#include <array>

#include "tools/profile/report/fact/host.h"

namespace npu::profile {

enum class Cause : uint8_t {
  kPause,      ///< no thread calls anything: batches are made, or other Python runs
  kWait,       ///< the host had waited for the device, and came as much too late with what follows
  kQueue,      ///< the host queues operators more slowly than the device runs them
  kStart,      ///< what was queued begins late
  kCopy,       ///< the host copies
  kCompile,    ///< a function is traced and compiled
  kHostNode,   ///< the client computes a node of a graph
  kInput,      ///< a graph waits for the next element of a data set
  kRoundTrip,  ///< what was copied from the device is computed with, and something is copied to it
  kGraph,      ///< the engine goes from one node of a graph to the next
};
inline constexpr size_t kCauses = 10;
/// For people.
std::string_view words_of(Cause cause);

/// Nanoseconds by cause.
struct Parts : std::array<int64_t, kCauses> {
  int64_t& operator[](Cause cause) { return at(static_cast<size_t>(cause)); }
  int64_t operator[](Cause cause) const { return at(static_cast<size_t>(cause)); }
};

struct Gap {
  Interval when;
  Parts parts{};
  Interval pause{};                  ///< the longest one in it
  const TaskRecord* next = nullptr;  ///< what ends it
};

struct Idle {
  Parts parts{};
  std::vector<Gap> gaps;
};

/// Whether the device is at work: copies are work, waits for events are none.
bool keeps_busy(const Trace& trace, const TaskRecord& task);
/// Between the first of `tasks` and the last.
Idle idle_of(const Trace& trace, const Host& host, const std::vector<TaskRecord>& tasks);

}  // namespace npu::profile
