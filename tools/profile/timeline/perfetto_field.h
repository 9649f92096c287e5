// SPDX-License-Identifier: Apache-2.0
// The fields of Perfetto's trace that are written here: messages of perfetto/trace/*.proto and their numbers.
#pragma once

#include <protozero/types.hpp>

namespace npu::profile::perfetto {

using Tag = protozero::pbf_tag_type;

enum class Trace : Tag { kPacket = 1 };
enum class Packet : Tag {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kDefaults = 59,
  kTrackDescriptor = 60,
};
enum class Defaults : Tag { kClock = 58 };
enum class ClockSnapshot : Tag { kClocks = 1, kPrimary = 2 };
enum class Clock : Tag { kId = 1, kTimestamp = 2 };
enum class TrackDescriptor : Tag {
  kUuid = 1,
  kName = 2,
  kProcess = 3,
  kThread = 4,
  kParent = 5,
  kChildOrdering = 11,
  kSiblingRank = 12,
};
enum class Process : Tag { kPid = 1, kName = 6 };
enum class Thread : Tag { kPid = 1, kTid = 2, kName = 5 };
enum class TrackEvent : Tag {
  kAnnotation = 4,
  kType = 9,
  kName = 10,
  kTrack = 11,
  kFlow = 47,
  kLastOfFlow = 48,
};
enum class Annotation : Tag { kKey = 1, kNumber = 3, kText = 17 };
enum class InternedData : Tag { kNames = 2, kKeys = 3, kTexts = 29 };
enum class Interned : Tag { kNumber = 1, kText = 2 };

inline constexpr uint32_t kStateCleared = 1, kNeedsState = 2;  ///< sequence flags
inline constexpr int32_t kBegin = 1, kEnd = 2, kInstant = 3;   ///< types of events
inline constexpr int32_t kRealtime = 1;                        ///< the clock that people read
inline constexpr int32_t kByRank = 3;                          ///< child ordering

}  // namespace npu::profile::perfetto
