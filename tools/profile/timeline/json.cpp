// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/timeline/json.h"

#include <utility>
#include <vector>

#include "base/json.h"
#include "tools/profile/timeline/track.h"

namespace npu::profile {
namespace {

std::string as_json(std::string_view text) { return Json(text).dump(-1, InvalidUtf8::kReplace); }

class JsonPrinter : public Printer {
 public:
  explicit JsonPrinter(Sink& out) : out_(out) { out_ << "["; }
  void close() { out_ << "]"; }

  void group(const Group& group) override {
    tell("process_name", "name", group.number(), 0, as_json(group.title));
    tell("process_labels", "labels", group.number(), 0,
         as_json(group.is_host() ? "CPU" : fmt::format("NPU {}", group.device)));
    tell("process_sort_index", "sort_index", group.number(), 0, fmt::format("{}", static_cast<uint32_t>(group.layer)));
  }

  void track(const Track& track) override {
    places_.push_back(fmt::format(R"(,"pid":{},"tid":{},"ts":")", track.group->number(), track.number()));
    tell("thread_name", "name", track.group->number(), track.number(), as_json(track.title));
    tell("thread_sort_index", "sort_index", track.group->number(), track.number(), fmt::format("{}", track.number()));
  }

  void begin(const Track& track, const Slice& slice) override {
    next() << R"({"name":)" << text(slice.name);
    place(track, slice.start) << R"(,"dur":)";
    out_.microseconds(slice.end - slice.start) << R"(,"args":{)";
    for (bool first = true; const Fact& fact : slice.facts) {
      out_ << (std::exchange(first, false) ? "\"" : ",\"") << fact.key.text << "\":";
      if (fact.text.number != 0)
        out_ << text(fact.text);
      else
        out_.number(fact.value);
    }
    out_ << R"(},"ph":"X"})";
    if (slice.flow != 0) arrow('f', track, slice.start, slice.flow) << R"(,"bp":"e"})";
  }

  void end(const Track&, int64_t) override {}

  void launch(const Track& thread, int64_t time, Name, uint64_t flow) override {
    arrow('s', thread, time, flow) << "}";
  }

 private:
  Sink& next() { return out_ << (std::exchange(first_, false) ? "" : ",\n"); }

  void tell(std::string_view what, std::string_view key, uint32_t process, uint32_t thread, const std::string& value) {
    next().print(R"({{"name":"{}","pid":{},"tid":{},"ph":"M","args":{{"{}":{}}}}})", what, process, thread, key, value);
  }
  /// Where and when. Times are texts: a reader that takes them for doubles has not their digits.
  Sink& place(const Track& track, int64_t time) { return (out_ << places_[track.id]).microseconds(time) << "\""; }
  Sink& arrow(char end, const Track& track, int64_t time, uint64_t flow) {
    next() << R"({"name":"HostToDevice)";
    out_.number(flow) << (end == 's' ? R"(","ph":"s")" : R"(","ph":"f")") << R"(,"cat":"HostToDevice","id":")";
    out_.number(flow) << "\"";
    return place(track, time);
  }

  const std::string& text(Name name) {
    if (name.number >= texts_.size()) texts_.resize(name.number + 1);
    std::string& known = texts_[name.number];
    if (known.empty()) known = as_json(name.text);
    return known;
  }

  Sink& out_;
  bool first_ = true;
  std::vector<std::string> texts_;   ///< by the number of the name
  std::vector<std::string> places_;  ///< by the id of the track
};

}  // namespace

void write_json(const Trace& trace, Sink& out) {
  JsonPrinter json(out);
  print_tracks(trace, json);
  json.close();
}

}  // namespace npu::profile
