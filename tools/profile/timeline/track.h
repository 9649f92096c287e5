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
enum class Layer : uint32_t { kCann = 7, kHardware = 14, kCommunication = 17, kOverlap = 19, kMarks = 20 };
inline constexpr uint32_t kHost = 31;  ///< in place of a device's number

/// CANN, and for each device Ascend Hardware, Communication and Overlap Analysis; marks of the host and of devices.
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
  uint32_t id;  ///< from 0 on, by the order in which a printer hears of them
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

/// By which a slice tells more than its name and times, in the vendor's words; no two have one number.
struct Key {
  uint32_t number;
  std::string_view text;
  bool repeats = false;  ///< what the track or the name tells
};
namespace key {
inline constexpr Key kThreadId{1, "Thread Id", true};
inline constexpr Key kMode{2, "Mode", true};
inline constexpr Key kLevel{3, "level"};
inline constexpr Key kId{4, "id", true};
inline constexpr Key kModelId{5, "Model Id"};
inline constexpr Key kTaskType{6, "Task Type"};
inline constexpr Key kStreamId{7, "Stream Id", true};
inline constexpr Key kTaskId{8, "Task Id"};
inline constexpr Key kBatchId{9, "Batch Id"};
inline constexpr Key kSubtaskId{10, "Subtask Id"};
inline constexpr Key kConnectionId{11, "connection_id"};
inline constexpr Key kCollectiveModelId{12, "model id"};
inline constexpr Key kSize{13, "size"};
inline constexpr Key kGroup{14, "group"};
inline constexpr Key kWaited{15, "waited(ns)"};
inline constexpr Key kAnalysisType{16, "analysis_type", true};
inline constexpr Key kDomain{17, "domain"};
inline constexpr Key kMarkId{18, "mark_id"};
inline constexpr Key kFunction{19, "function"};
inline constexpr Key kNode{20, "node"};
inline constexpr Key kNeed{21, "why"};
inline constexpr Key kReason{22, "reason"};
}  // namespace key
/// What there is none of; the vendor's number for that is this one.
inline constexpr uint64_t kNone = 4294967295;

struct Fact {
  Fact(const Key& of, uint64_t number) : key(of), value(number) {}
  Fact(const Key& of, Name name) : key(of), text(name) {}
  const Key& key;
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
