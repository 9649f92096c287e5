// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/timeline/perfetto.h"

#include <array>
#include <protozero/buffer_fixed.hpp>
#include <protozero/pbf_builder.hpp>
#include <set>
#include <string>
#include <vector>

#include "tools/profile/timeline/perfetto_field.h"
#include "tools/profile/timeline/track.h"

namespace npu::profile {
namespace {

template <class Field>
using Message = protozero::pbf_builder<Field>;
/// In a room that is there already: events have no texts, so they are short, and there are many.
template <class Field>
using Short = protozero::basic_pbf_builder<protozero::fixed_size_buffer_adaptor, Field>;
using perfetto::Annotation;
using perfetto::InternedData;
using perfetto::Packet;
using perfetto::TrackDescriptor;
using perfetto::TrackEvent;

constexpr uint32_t kSequence = 1;  // all packets are of one

/// Of a group's track; those on it have the numbers after it.
uint64_t uuid_of(const Group& group) { return uint64_t{group.number()} << 32; }
uint64_t uuid_of(const Track& track) { return uuid_of(*track.group) + track.number() + 1; }
/// Of the track that holds a device's groups; no layer has the number 0.
uint64_t uuid_of_device(const Group& group) { return (uint64_t{group.process} << 10 | group.device) << 32; }

/// Texts of one kind that the reader has been told.
class Told {
 public:
  /// False once for each number.
  bool knows(uint32_t number) {
    if (number >= told_.size()) told_.resize(2 * number + 64);
    const bool known = told_[number];
    told_[number] = true;
    return known;
  }

 private:
  std::vector<bool> told_;
};

class Perfetto : public Printer {
 public:
  Perfetto(const Trace& trace, Sink& out) : out_(out) {
    packet(perfetto::kStateCleared, [&](Message<Packet>& to) {
      Message<perfetto::ClockSnapshot> snapshot(to, Packet::kClockSnapshot);
      Message<perfetto::Clock> clock(snapshot, perfetto::ClockSnapshot::kClocks);
      clock.add_uint32(perfetto::Clock::kId, perfetto::kRealtime);
      clock.add_uint64(perfetto::Clock::kTimestamp, static_cast<uint64_t>(trace.begin));
      clock.commit();
      snapshot.add_enum(perfetto::ClockSnapshot::kPrimary, perfetto::kRealtime);
      snapshot.commit();
      Message<perfetto::Defaults>(to, Packet::kDefaults).add_uint32(perfetto::Defaults::kClock, perfetto::kRealtime);
    });
  }

  void group(const Group& group) override {
    if (!group.is_host() && devices_.insert(group.device).second)
      describe([&](Message<TrackDescriptor>& to) {
        to.add_uint64(TrackDescriptor::kUuid, uuid_of_device(group));
        to.add_string(TrackDescriptor::kName, fmt::format("NPU {}", group.device));
        to.add_enum(TrackDescriptor::kChildOrdering, perfetto::kByRank);
      });
    describe([&](Message<TrackDescriptor>& to) {
      to.add_uint64(TrackDescriptor::kUuid, uuid_of(group));
      to.add_enum(TrackDescriptor::kChildOrdering, perfetto::kByRank);
      if (group.is_host()) {
        Message<perfetto::Process> process(to, TrackDescriptor::kProcess);
        process.add_int32(perfetto::Process::kPid, static_cast<int32_t>(group.process));
        process.add_string(perfetto::Process::kName, group.title);
      } else {
        to.add_uint64(TrackDescriptor::kParent, uuid_of_device(group));
        to.add_string(TrackDescriptor::kName, group.title);
        to.add_int32(TrackDescriptor::kSiblingRank, static_cast<int32_t>(group.layer));
      }
    });
  }

  void track(const Track& track) override {
    describe([&](Message<TrackDescriptor>& to) {
      to.add_uint64(TrackDescriptor::kUuid, uuid_of(track));
      to.add_uint64(TrackDescriptor::kParent, uuid_of(*track.group));
      if (track.group->is_host() && track.lane == 0) {
        Message<perfetto::Thread> thread(to, TrackDescriptor::kThread);
        thread.add_int32(perfetto::Thread::kPid, static_cast<int32_t>(track.group->process));
        thread.add_int64(perfetto::Thread::kTid, track.index);
        thread.add_string(perfetto::Thread::kName, track.title);
      } else {
        to.add_string(TrackDescriptor::kName, track.title);
        to.add_int32(TrackDescriptor::kSiblingRank, static_cast<int32_t>(track.number()));
      }
    });
  }

  void begin(const Track& track, const Slice& slice) override {
    tell(InternedData::kNames, names_, slice.name);
    for (const Fact& fact : slice.facts) {
      if (!is_told(fact)) continue;
      tell(InternedData::kKeys, keys_, {fact.key.number, fact.key.text});
      if (fact.text.number != 0) tell(InternedData::kTexts, texts_, fact.text);
    }
    event(track, slice.start, perfetto::kBegin, [&](Short<TrackEvent>& to) {
      to.add_uint64(TrackEvent::kName, slice.name.number);
      if (slice.flow != 0) to.add_fixed64(TrackEvent::kLastOfFlow, slice.flow);
      for (const Fact& fact : slice.facts)
        if (is_told(fact)) annotate(to, fact);
    });
  }

  void end(const Track& track, int64_t time) override {
    event(track, time, perfetto::kEnd, [](Short<TrackEvent>&) {});
  }

  void launch(const Track& thread, int64_t time, Name name, uint64_t flow) override {
    tell(InternedData::kNames, names_, name);
    event(thread, time, perfetto::kInstant, [&](Short<TrackEvent>& to) {
      to.add_uint64(TrackEvent::kName, name.number);
      to.add_fixed64(TrackEvent::kFlow, flow);
    });
  }

 private:
  template <class Fill>
  void packet(uint32_t flags, Fill&& fill) {
    bytes_.clear();
    Message<Packet> made(bytes_);
    made.add_uint32(Packet::kSequence, kSequence);
    made.add_uint32(Packet::kSequenceFlags, flags);
    fill(made);
    add(bytes_);
  }
  void add(std::string_view packet) {
    protozero::fixed_size_buffer_adaptor head(head_.data(), head_.size());
    constexpr auto kTag = static_cast<uint64_t>(perfetto::Trace::kPacket);
    constexpr auto kType = static_cast<uint64_t>(protozero::pbf_wire_type::length_delimited);
    protozero::add_varint_to_buffer(&head, kTag << 3 | kType);
    protozero::add_varint_to_buffer(&head, packet.size());
    out_ << std::string_view(head.data(), head.size()) << packet;
  }
  template <class Fill>
  void describe(Fill&& fill) {
    packet(perfetto::kNeedsState, [&](Message<Packet>& to) {
      Message<TrackDescriptor> descriptor(to, Packet::kTrackDescriptor);
      fill(descriptor);
    });
  }
  template <class Fill>
  void event(const Track& track, int64_t time, int32_t type, Fill&& fill) {
    protozero::fixed_size_buffer_adaptor room(room_.data(), room_.size());
    {
      Short<Packet> to(room);
      to.add_uint32(Packet::kSequence, kSequence);
      to.add_uint32(Packet::kSequenceFlags, perfetto::kNeedsState);
      to.add_uint64(Packet::kTimestamp, static_cast<uint64_t>(time));
      Short<TrackEvent> made(to, Packet::kTrackEvent);
      made.add_enum(TrackEvent::kType, type);
      made.add_uint64(TrackEvent::kTrack, uuid_of(track));
      fill(made);
    }
    add({room.data(), room.size()});
  }

  static bool is_told(const Fact& fact) { return !fact.key.repeats && (fact.text.number != 0 || fact.value != kNone); }
  static void annotate(Short<TrackEvent>& to, const Fact& fact) {
    Short<Annotation> made(to, TrackEvent::kAnnotation);
    made.add_uint64(Annotation::kKey, fact.key.number);
    if (fact.text.number != 0)
      made.add_uint64(Annotation::kText, fact.text.number);
    else
      made.add_uint64(Annotation::kNumber, fact.value);
  }

  void tell(InternedData kind, Told& told, Name name) {
    if (told.knows(name.number)) return;
    packet(perfetto::kNeedsState, [&](Message<Packet>& to) {
      Message<InternedData> data(to, Packet::kInternedData);
      Message<perfetto::Interned> one(data, kind);
      one.add_uint64(perfetto::Interned::kNumber, name.number);
      one.add_bytes(perfetto::Interned::kText, name.text.data(), name.text.size());
    });
  }

  Sink& out_;
  std::string bytes_;
  std::array<char, 1024> room_;
  std::array<char, 16> head_;
  std::set<uint32_t> devices_;
  Told names_, keys_, texts_;
};

}  // namespace

void write_perfetto(const Trace& trace, Sink& out) {
  Perfetto printer(trace, out);
  print_tracks(trace, printer);
}

}  // namespace npu::profile
