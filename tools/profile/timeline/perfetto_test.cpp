// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/timeline/perfetto.h"

#include <map>
#include <protozero/pbf_message.hpp>
#include <set>

#include "tools/profile/timeline/perfetto_field.h"
#include "tools/profile/trace/collection_fixture.h"

namespace npu::profile {
namespace {

template <class Field>
using Message = protozero::pbf_message<Field>;
using perfetto::Annotation;
using perfetto::Packet;
using perfetto::TrackDescriptor;
using perfetto::TrackEvent;
using Texts = std::map<uint64_t, std::string>;

struct Event {
  uint64_t time = 0, track = 0;
  int32_t type = 0;
  std::string name;
  std::vector<uint64_t> flows, last_of_flows;
  std::map<std::string, std::string> facts;
};

/// A trace as a viewer sees it: names instead of numbers, slices in their places.
struct Seen {
  std::map<uint64_t, std::string> tracks;  ///< path, from the topmost
  std::map<uint64_t, uint64_t> parents;
  std::vector<Event> events;
  Texts names, keys, texts;
  uint64_t clock = 0, default_clock = 0;
  int cleared = 0;

  std::string path(uint64_t track) const {
    const auto parent = parents.find(track);
    return (parent == parents.end() ? "" : path(parent->second) + "/") + tracks.at(track);
  }
};

void read(Message<perfetto::InternedData> data, Seen& seen) {
  while (data.next()) {
    Texts& texts = data.tag() == perfetto::InternedData::kNames  ? seen.names
                   : data.tag() == perfetto::InternedData::kKeys ? seen.keys
                                                                 : seen.texts;
    Message<perfetto::Interned> one(data.get_message());
    uint64_t number = 0;
    while (one.next()) {
      if (one.tag() == perfetto::Interned::kNumber)
        number = one.get_uint64();
      else
        EXPECT_TRUE(texts.emplace(number, std::string(one.get_view())).second) << "told twice: " << number;
    }
  }
}

std::string name_in(protozero::data_view bytes, protozero::pbf_tag_type tag) {
  for (protozero::pbf_reader reader(bytes); reader.next();) {
    if (reader.tag() == tag) return reader.get_string();
    reader.skip();
  }
  return "";
}

void read(Message<TrackDescriptor> from, Seen& seen) {
  uint64_t uuid = 0, parent = 0;
  std::string name;
  while (from.next()) switch (from.tag()) {
      case TrackDescriptor::kUuid: uuid = from.get_uint64(); break;
      case TrackDescriptor::kParent: parent = from.get_uint64(); break;
      case TrackDescriptor::kName: name = from.get_string(); break;
      case TrackDescriptor::kProcess:
        name = name_in(from.get_view(), static_cast<perfetto::Tag>(perfetto::Process::kName));
        break;
      case TrackDescriptor::kThread:
        name = name_in(from.get_view(), static_cast<perfetto::Tag>(perfetto::Thread::kName));
        break;
      default: from.skip();
    }
  EXPECT_TRUE(seen.tracks.emplace(uuid, name).second) << "described twice: " << name;
  if (parent != 0) {
    EXPECT_TRUE(seen.tracks.contains(parent)) << name;
    seen.parents[uuid] = parent;
  }
}

void read(Message<Annotation> from, const Seen& seen, Event& event) {
  std::string key, value;
  while (from.next()) switch (from.tag()) {
      case Annotation::kKey: key = seen.keys.at(from.get_uint64()); break;
      case Annotation::kText: value = seen.texts.at(from.get_uint64()); break;
      default: value = std::to_string(from.get_uint64());
    }
  event.facts[key] = value;
}

void read(Message<TrackEvent> from, const Seen& seen, Event& event) {
  while (from.next()) switch (from.tag()) {
      case TrackEvent::kType: event.type = from.get_enum(); break;
      case TrackEvent::kTrack: event.track = from.get_uint64(); break;
      case TrackEvent::kName: event.name = seen.names.at(from.get_uint64()); break;
      case TrackEvent::kFlow: event.flows.push_back(from.get_fixed64()); break;
      case TrackEvent::kLastOfFlow: event.last_of_flows.push_back(from.get_fixed64()); break;
      case TrackEvent::kAnnotation: read(Message<Annotation>(from.get_message()), seen, event); break;
      default: ADD_FAILURE() << "field " << static_cast<uint32_t>(from.tag());
    }
  EXPECT_TRUE(seen.tracks.contains(event.track)) << event.name;
}

void read(Message<Packet> from, Seen& seen) {
  Event event;
  while (from.next()) switch (from.tag()) {
      case Packet::kTimestamp: event.time = from.get_uint64(); break;
      case Packet::kSequence: EXPECT_EQ(from.get_uint32(), 1u); break;
      case Packet::kSequenceFlags: seen.cleared += from.get_uint32() == perfetto::kStateCleared; break;
      case Packet::kInternedData: read(Message<perfetto::InternedData>(from.get_message()), seen); break;
      case Packet::kTrackDescriptor: read(Message<TrackDescriptor>(from.get_message()), seen); break;
      case Packet::kTrackEvent:
        read(Message<TrackEvent>(from.get_message()), seen, event);
        EXPECT_GT(event.time, 0u);
        seen.events.push_back(event);
        break;
      case Packet::kClockSnapshot: {
        Message<perfetto::ClockSnapshot> snapshot(from.get_message());
        ASSERT_TRUE(snapshot.next(perfetto::ClockSnapshot::kPrimary));
        seen.clock = static_cast<uint64_t>(snapshot.get_enum());
        break;
      }
      case Packet::kDefaults: {
        Message<perfetto::Defaults> defaults(from.get_message());
        ASSERT_TRUE(defaults.next(perfetto::Defaults::kClock));
        seen.default_clock = defaults.get_uint32();
        break;
      }
      default: ADD_FAILURE() << "field " << static_cast<uint32_t>(from.tag());
    }
}

class Perfetto : public Collection {
 protected:
  Seen written() const {
    Sink file(root / "trace");
    write_perfetto(read_folder(folder), file);
    file.close();
    file.keep();
    const std::string bytes = Collection::read(root / "trace");
    Seen seen;
    for (Message<perfetto::Trace> trace(bytes); trace.next();)
      profile::read(Message<Packet>(trace.get_message()), seen);
    return seen;
  }
};

/// Names of slices by track, each with its depth; events of a track must nest as they are sorted by time.
std::map<std::string, std::vector<std::string>> slices_of(const Seen& seen) {
  std::map<std::string, std::vector<std::string>> rows;
  std::map<uint64_t, std::vector<const Event*>> tracks;
  for (const Event& event : seen.events) tracks[event.track].push_back(&event);
  for (auto& [track, events] : tracks) {
    std::ranges::stable_sort(events, {}, &Event::time);
    size_t depth = 0;
    for (const Event* event : events) {
      if (event->type == perfetto::kEnd) {
        EXPECT_GT(depth--, 0u) << seen.path(track);
        continue;
      }
      rows[seen.path(track)].push_back(std::string(depth, '>') + event->name);
      depth += event->type == perfetto::kBegin;
    }
    EXPECT_EQ(depth, 0u) << seen.path(track);
  }
  return rows;
}

TEST_F(Perfetto, TracksNestAndFlowsLeadFromCallToTask) {
  write_texts({"Add", "aclnnAdd_Add", "HcomAllReduce", "hcom_all_reduce", "group"});
  TaskRecord reduce = task(1500, 4000, Unit::kCollective, 3, 4, 4), alone = task(6000, 7000, Unit::kCube, 1, 2);
  reduce.bytes = 4096, reduce.graph = 5, reduce.step = 7, reduce.waited = 1200;
  alone.launched = 0;
  write<TaskRecord>("device_0/data/anynpu.tasks", {task(1000, 2000, Unit::kVector, 1, 2), reduce, alone});
  write<CallRecord>("host/data/anynpu.calls", {{kClock + 400, kClock + 900, 78, 2, Level::kOperator, 0},
                                               {kClock + 450, kClock + 600, 78, 1, Level::kRuntime, 0}});
  const Seen seen = written();
  EXPECT_EQ(seen.cleared, 1);
  EXPECT_EQ(seen.clock, static_cast<uint64_t>(perfetto::kRealtime));
  EXPECT_EQ(seen.default_clock, seen.clock);
  EXPECT_EQ(slices_of(seen),
            (std::map<std::string, std::vector<std::string>>{
                {"CANN/Thread 78", {"Node@aclnnAdd_Add", ">AscendCL@Add", ">>launch", "launch"}},
                {"NPU 0/Ascend Hardware/Stream 3", {"aclnnAdd_Add", "aclnnAdd_Add"}},
                {"NPU 0/Ascend Hardware/Stream 4", {"hcom_allReduce__395_7_1"}},
                {"NPU 0/Communication/Group of stream 4 Communication", {"hcom_allReduce__395_7_1"}},
                {"NPU 0/Overlap Analysis/Communication", {"Communication"}},
                {"NPU 0/Overlap Analysis/Communication(Not Overlapped)", {"Communication(Not Overlapped)"}},
                {"NPU 0/Overlap Analysis/Computing", {"Computing", "Computing"}},
                {"NPU 0/Overlap Analysis/Free", {"Free"}}}));
  std::map<uint64_t, const Event*> from, to;
  for (const Event& event : seen.events) {
    for (const uint64_t flow : event.flows) EXPECT_TRUE(from.emplace(flow, &event).second);
    for (const uint64_t flow : event.last_of_flows) {
      EXPECT_TRUE(to.emplace(flow, &event).second);
      ASSERT_TRUE(from.contains(flow)) << "ends before it began";
      EXPECT_EQ(from[flow]->time, event.time - 500);
      EXPECT_EQ(from[flow]->name, "launch");
    }
  }
  ASSERT_EQ(from.size(), 2u);
  ASSERT_EQ(to.size(), 2u);
  EXPECT_EQ(to[1]->time, 1'700'000'000'000'001'000u);
  EXPECT_EQ(to[1]->facts,
            (std::map<std::string, std::string>{
                {"Task Type", "AI_VECTOR_CORE"}, {"Task Id", "0"}, {"Batch Id", "0"}, {"connection_id", "1"}}));
  const auto collective =
      std::ranges::find_if(seen.events, [](const Event& event) { return event.facts.contains("size"); });
  ASSERT_NE(collective, seen.events.end());
  EXPECT_EQ(collective->facts,
            (std::map<std::string, std::string>{{"size", "4096"}, {"group", "group"}, {"waited(ns)", "1200"}}));
}

TEST_F(Perfetto, WhatCrossesOnAStreamGetsALane) {
  write_texts({"graph", "node"});
  write<TaskRecord>("device_0/data/anynpu.tasks",
                    {task(1000, 5000, Unit::kNone, 1, 1, 0), task(1000, 2000, Unit::kVector, 2, 2, 0),
                     task(3000, 8000, Unit::kNone, 1, 1, 0), task(5000, 5000, Unit::kVector, 2, 2, 0),
                     task(4000, 9000, Unit::kNone, 1, 1, 0)});
  const auto rows = slices_of(written());
  using Row = std::vector<std::string>;
  EXPECT_EQ(rows.at("NPU 0/Ascend Hardware/Graph"), (Row{"graph", ">node", "node"}));
  EXPECT_EQ(rows.at("NPU 0/Ascend Hardware/Graph (2)"), (Row{"graph"}));
  EXPECT_EQ(rows.at("NPU 0/Ascend Hardware/Graph (3)"), (Row{"graph"}));
}

}  // namespace
}  // namespace npu::profile
