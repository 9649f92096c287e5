// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/record/digest_file.h"

#include <charconv>
#include <cstring>

#include "base/error.h"

namespace npu::graph::record {
namespace {

constexpr std::string_view kHead = "NPU digests 1\n";
enum class Tag : uint8_t { kText = 'T', kTask = 'O', kEnd = 'E' };

/// The file's bytes, piece by piece. Where they end within a record, that one is given up.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  bool read(std::vector<DigestedTask>& tasks) {
    if (!bytes_.starts_with(kHead)) wrong("it does not begin like a file of digests");
    at_ = kHead.size();
    while (at_ < bytes_.size()) {
      switch (static_cast<Tag>(bytes_[at_])) {
        case Tag::kText:
          if (!read_text()) return false;
          break;
        case Tag::kTask:
          if (!read_task(tasks)) return false;
          break;
        case Tag::kEnd: return read_end(tasks.size());
        default: wrong(fmt::format("byte {} begins no record", at_));
      }
    }
    return false;
  }

 private:
  template <class T>
  bool get(T& number) {
    if (bytes_.size() - at_ < sizeof number) return false;
    std::memcpy(&number, bytes_.data() + at_, sizeof number);
    at_ += sizeof number;
    return true;
  }
  bool get(std::vector<uint64_t>& digests) {
    uint32_t count = 0;
    if (!get(count) || (bytes_.size() - at_) / sizeof(uint64_t) < count) return false;
    digests.resize(count);
    for (uint64_t& digest : digests) get(digest);
    return true;
  }
  bool get(std::string_view& text) {
    uint32_t number = 0;
    if (!get(number)) return false;
    if (number >= texts_.size()) wrong(fmt::format("text {} before byte {} is not there", number, at_));
    text = texts_[number];
    return true;
  }

  bool read_text() {
    uint32_t length = 0;
    ++at_;
    if (!get(length) || bytes_.size() - at_ < length) return false;
    texts_.push_back(bytes_.substr(at_, length));
    at_ += length;
    return true;
  }
  bool read_task(std::vector<DigestedTask>& tasks) {
    DigestedTask task;
    ++at_;
    if (!get(task.type) || !get(task.node) || !get(task.lane.graph) || !get(task.lane.device) ||
        !get(task.lane.stream) || !get(task.step) || !get(task.parameters) || !get(task.inputs) || !get(task.outputs))
      return false;
    tasks.push_back(std::move(task));
    return true;
  }
  bool read_end(uint64_t tasks) {
    uint64_t count = 0;
    ++at_;
    if (!get(count)) return false;
    if (count != tasks) wrong(fmt::format("it counts {} operators and holds {}", count, tasks));
    return true;
  }
  [[noreturn]] void wrong(const std::string& what) const {
    fail(Code::kParseFile, "{}: {}: this is no file of digests, or it was changed after it was written", name_, what);
  }

  const std::string_view bytes_;
  const std::string& name_;
  size_t at_ = 0;
  std::vector<std::string_view> texts_;
};

/// The number in front of the next '/', which are both taken away.
template <class T>
bool take(std::string_view& text, T& number) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + slash, number);
  if (error != std::errc() || end != text.data() + slash) return false;
  text.remove_prefix(slash + 1);
  return true;
}

}  // namespace

std::string to_string(const Place& place) {
  return fmt::format("{}/{}/{}/{}", place.device, place.stream, place.ordinal, place.graph);
}

std::optional<Place> place_of(std::string_view text) {
  Place place;
  if (!take(text, place.device) || !take(text, place.stream) || !take(text, place.ordinal)) return std::nullopt;
  place.graph = text;
  return place;
}

DigestEncoder::DigestEncoder() : bytes_(kHead) {}

template <class T>
void DigestEncoder::put(T number) {
  bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
}

uint32_t DigestEncoder::number_of(std::string_view text) {
  if (const auto at = texts_.find(text); at != texts_.end()) return at->second;
  put(Tag::kText);
  put(static_cast<uint32_t>(text.size()));
  bytes_ += text;
  return texts_.emplace(text, static_cast<uint32_t>(texts_.size())).first->second;
}

void DigestEncoder::add(const DigestedTask& task) {
  const uint32_t type = number_of(task.type), node = number_of(task.node), graph = number_of(task.lane.graph);
  put(Tag::kTask);
  put(type), put(node), put(graph);
  put(task.lane.device), put(task.lane.stream);
  put(task.step), put(task.parameters);
  for (const auto* digests : {&task.inputs, &task.outputs}) {
    put(static_cast<uint32_t>(digests->size()));
    for (const uint64_t digest : *digests) put(digest);
  }
  ++tasks_;
}

void DigestEncoder::end() {
  put(Tag::kEnd);
  put(tasks_);
}

std::string DigestEncoder::take() { return std::exchange(bytes_, {}); }

DigestFile::DigestFile(const std::string& path) : file_(path) { complete_ = Reader(file_.text(), path).read(tasks_); }

}  // namespace npu::graph::record
