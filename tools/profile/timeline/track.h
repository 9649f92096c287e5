// SPDX-License-Identifier: Apache-2.0
// What a timeline shows, without a format: tracks in groups, the slices on them, and which call queued what.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tools/profile/trace/folder.h"

namespace npu::profile {

/// Layers of the vendor's timelines: part of a group's number there, and the order of groups.
enum class Layer : uint32_t { kCann = 7, kHardware = 14, kCommunication = 17, kOverlap = 19 };
inline constexpr uint32_t kHost = 31;  ///< in place of a device's number

/// CANN, and for each device Ascend Hardware, Communication and Overlap Analysis.
struct Group {
  uint32_t process;  ///< of the system
  Layer layer;
  uint32_t device;
  const char* title;
  /// Its number in the vendor's timelines.
  uint32_t number() const { return process << 10 | static_cast<uint32_t>(layer) << 5 | device; }
  bool is_host() const { return device == kHost; }
};

/// A thread, a stream, or a row of the overlap analysis.
struct Track {
  const Group* group;
  uint32_t index;  ///< of the thread or stream
  uint32_t lane;   ///< 0; more where slices of one stream cross, as of graphs that run at once
  std::string title;
  uint32_t number() const { return lane << 24 | index; }  ///< in its group; orders it
};

/// A text and the number that stands for it, from 1 on: the same one for the same text.
struct Name {
  uint32_t number = 0;
  std::string_view text;
};

/// What a slice tells beside its name and times, by the vendor's keys; no two have one number.
namespace key {
inline constexpr Name kThreadId{1, "Thread Id"};
inline constexpr Name kMode{2, "Mode"};
inline constexpr Name kLevel{3, "level"};
inline constexpr Name kId{4, "id"};
inline constexpr Name kModelId{5, "Model Id"};
inline constexpr Name kTaskType{6, "Task Type"};
inline constexpr Name kStreamId{7, "Stream Id"};
inline constexpr Name kTaskId{8, "Task Id"};
inline constexpr Name kBatchId{9, "Batch Id"};
inline constexpr Name kSubtaskId{10, "Subtask Id"};
inline constexpr Name kConnectionId{11, "connection_id"};
inline constexpr Name kCollectiveModelId{12, "model id"};
inline constexpr Name kSize{13, "size"};
inline constexpr Name kGroup{14, "group"};
inline constexpr Name kWaited{15, "waited(ns)"};
inline constexpr Name kAnalysisType{16, "analysis_type"};
}  // namespace key
/// What there is none of; the vendor's number for that is this one.
inline constexpr uint64_t kNone = 4294967295;

struct Fact {
  Fact(const Name& of, uint64_t number) : key(of), value(number) {}
  Fact(const Name& of, Name name) : key(of), text(name) {}
  const Name& key;
  uint64_t value = 0;
  Name text;  ///< in place of the value, when it has a number
};

struct Slice {
  int64_t start, end;
  Name name;
  std::span<const Fact> facts;
  uint64_t flow = 0;  ///< the connection from the call that queued it, where one did
};

/// Of one format.
class Printer {
 public:
  virtual ~Printer() = default;
  virtual void group(const Group& group) = 0;  ///< before its tracks
  virtual void track(const Track& track) = 0;  ///< before its slices
  virtual void begin(const Track& track, const Slice& slice) = 0;
  virtual void end(const Track& track, int64_t time) = 0;  ///< of the slice that began last and has not ended
  /// A task was queued, here and now; its slice with this flow comes next.
  virtual void launch(const Track& thread, int64_t time, Name name, uint64_t flow) = 0;
};

/// Slices of a track lie inside of each other or apart, and come in the order of their starts, the outer one first.
void print_tracks(const Trace& trace, Printer& printer);

}  // namespace npu::profile
