// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/trace/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "device/trace/module.h"

namespace npu::profile {
namespace {

namespace fs = std::filesystem;
namespace trace = device::trace;

[[noreturn]] void unreadable(const fs::path& path) {
  fail(Code::kInvalidFile, "{} cannot be read; is it a folder of a collection, PROF_…?", path.string());
}

std::string read_file(const fs::path& path) {
  std::optional<std::string> text = whole_file(path.string());
  if (!text) unreadable(path);
  return *std::move(text);
}

Json read_json(const fs::path& path) {
  Json found = Json::try_parse(read_file(path)).value_or(nullptr);
  if (!found.is_object()) fail(Code::kParseFile, "{} is no JSON object; collect anew", path.string());
  return found;
}

/// A number that is written as a text.
int64_t number(const Json& object, const char* key, const fs::path& path) {
  const auto found = object.find(key);
  char* end = nullptr;
  const std::string text = found != object.end() && found->is_string() ? found->get<std::string>() : "";
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') fail(Code::kParseFile, "{} has no number '{}'; collect anew", path.string(), key);
  return value;
}

/// By their starts, what holds another before it.
template <class Record>
bool before(const Record& a, const Record& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

/// Merges sorted neighbours, of which only what lies across their border moves.
template <class Place>
void merge(Place begin, Place middle, Place end) {
  if (middle == end) return;
  using Record = std::iter_value_t<Place>;
  const auto from = std::upper_bound(begin, middle, *middle, before<Record>);
  const auto to = std::lower_bound(middle, end, *std::prev(middle), before<Record>);
  if (from != middle) std::inplace_merge(from, middle, to, before<Record>);
}

/// Threads write pieces in turn, each in the order of time: so runs of records are sorted, and near their places.
template <class Record>
void order(std::vector<Record>& records) {
  auto runs = std::vector{records.begin()};
  while (runs.back() != records.end()) runs.push_back(std::is_sorted_until(runs.back(), records.end(), before<Record>));
  for (; runs.size() > 2;) {
    auto kept = runs.begin();
    for (size_t i = 0; i + 1 < runs.size(); i += 2) {
      if (i + 2 < runs.size()) merge(runs[i], runs[i + 1], runs[i + 2]);
      *kept++ = runs[i];
    }
    *kept++ = records.end();
    runs.erase(kept, runs.end());
  }
}

/// Whole records of a file that may not be there: a device that nothing ran on.
template <class Record>
std::vector<Record> read_records(const fs::path& path, int64_t shift) {
  if (!fs::exists(path)) return {};
  std::vector<Record> records(fs::file_size(path) / sizeof(Record));
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(records.data()),
                 static_cast<std::streamsize>(records.size() * sizeof(Record))))
    unreadable(path);
  std::erase_if(records, [](const Record& record) { return record.end < record.start || record.start == 0; });
  for (Record& record : records) record.start += shift, record.end += shift;
  order(records);
  return records;
}

std::vector<std::string> read_texts(const fs::path& path) {
  const std::string bytes = read_file(path);
  std::vector<std::string> texts;
  uint32_t length = 0;
  for (size_t at = 0; at + sizeof length <= bytes.size(); at += length) {
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += sizeof length;
    if (length > bytes.size() - at) break;  // the process died while it wrote
    texts.emplace_back(bytes.substr(at, length));
  }
  return texts;
}

/// Marks of ours are none of the client's.
void take_modules(Trace& found) {
  const auto ours = std::ranges::stable_partition(
      found.marks, [&](const MarkRecord& mark) { return found.text(mark.domain) != trace::kModuleDomain; });
  found.modules.assign(ours.begin(), ours.end());
  found.marks.erase(ours.begin(), ours.end());
}

/// What the client wanted to be told; a file that cannot be read says nothing.
void read_options(const fs::path& path, Trace& found) {
  if (!fs::exists(path)) return;
  const Json options = Json::try_parse(read_file(path)).value_or(nullptr);
  const auto text = [&](const char* key) {
    const auto value = options.is_object() ? options.find(key) : options.end();
    return value != options.end() && value->is_string() ? value->get<std::string>() : "";
  };
  found.forward_point = text("fp_point");
  found.backward_point = text("bp_point");
}

/// N of device_N; -1 of other folders.
int device_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  constexpr std::string_view kPrefix = "device_";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return -1;
  char* end = nullptr;
  const auto device = std::strtol(name.c_str() + kPrefix.size(), &end, 10);
  return *end == '\0' ? static_cast<int>(device) : -1;
}

}  // namespace

bool is_collection(const fs::path& folder) { return fs::exists(folder / "host/data" / trace::kTextFile); }

std::vector<fs::path> collections_in(const fs::path& place) {
  if (!fs::is_directory(place))
    fail(Code::kInvalidParam, "{} is no folder; give a PROF_… of a collection", place.string());
  if (is_collection(place)) return {place};
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(place))
    if (entry.path().filename().string().starts_with("PROF_") && is_collection(entry.path()))
      found.push_back(entry.path());
  if (found.empty())
    fail(Code::kInvalidParam,
         "{} holds no collection (PROF_… with host/data/anynpu.texts); give the folder that was profiled into",
         place.string());
  std::ranges::sort(found);
  return found;
}

Trace read_folder(const fs::path& folder) {
  if (!fs::is_directory(folder))
    fail(Code::kInvalidParam, "{} is no folder; give a PROF_… of a collection", folder.string());
  const Json info = read_json(folder / "host/info.json");
  if (info.value("anynpu_format", 0) != trace::kFormat)
    fail(Code::kParseFile, "{} was not written by this version of AnyNPU; export it with the one that collected it",
         folder.string());
  const fs::path start = folder / "host/start_info";
  const Json begun = read_json(start);
  Trace found;
  found.process = static_cast<uint32_t>(number(info, "pid", folder / "host/info.json"));
  found.soc = info.value("soc", "");
  found.rank = info.value("rank_id", int64_t{-1});
  found.is_of_torch = fs::absolute(folder).parent_path().filename().string().ends_with("_ascend_pt");
  found.begin = number(begun, "collectionTimeBegin", start) * 1000;
  const int64_t shift = found.begin - number(begun, "clockMonotonicRaw", start);
  found.texts = read_texts(folder / "host/data" / trace::kTextFile);
  found.calls = read_records<CallRecord>(folder / "host/data" / trace::kCallFile, shift);
  found.marks = read_records<MarkRecord>(folder / "host/data" / trace::kMarkFile, shift);
  take_modules(found);
  found.memory = read_records<MemoryRecord>(folder / "host/data" / trace::kMemoryFile, shift);
  found.graphs = read_records<GraphRecord>(folder / "host/data" / trace::kGraphFile, shift);
  found.groups = read_records<GroupRecord>(folder / "host/data" / trace::kGroupFile, shift);
  found.links = read_records<LinkRecord>(folder / "host/data" / trace::kLinkFile, shift);
  read_options(folder / "host/sample.json", found);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const int device = device_of(entry.path());
    if (device < 0) continue;
    std::vector<TaskRecord>& tasks = found.tasks[device];
    tasks = read_records<TaskRecord>(entry.path() / "data" / trace::kTaskFile, shift);
    for (TaskRecord& task : tasks)
      if (task.launched != 0) task.launched += shift;
  }
  return found;
}

std::string_view Trace::text(uint32_t number) const {
  return number == 0 || number > texts.size() ? std::string_view() : std::string_view(texts[number - 1]);
}

std::string name_of(const Trace& found, const CallRecord& call) {
  std::string name(found.text(call.name));
  if (call.level == trace::Level::kWorkspace) name += "GetWorkspaceSize";
  return name;
}

std::string name_of(const Trace& found, const GraphRecord& work) {
  switch (work.work) {
    case trace::HostWork::kPasses: return "GraphPasses";
    case trace::HostWork::kPlan: return "GraphPlan";
    case trace::HostWork::kNode: break;
  }
  return fmt::format("HostNode_{}", found.text(work.type));
}

std::string function_of(std::string_view graph) {
  constexpr std::string_view kPrefix = "__inference_";
  if (graph.starts_with(kPrefix)) graph.remove_prefix(kPrefix.size());
  while (!graph.empty() && (std::isdigit(static_cast<unsigned char>(graph.back())) != 0 || graph.back() == '_'))
    graph.remove_suffix(1);
  return std::string(graph);
}

std::string_view words_of(trace::Need need) {
  switch (need) {
    case trace::Need::kNone: break;
    case trace::Need::kFirst: return "first time";
    case trace::Need::kAnew: return "traced anew";
    case trace::Need::kShapes: return "other shapes";
    case trace::Need::kValues: return "other values";
  }
  return "";
}

uint64_t number_of_group(std::string_view name) {
  uint32_t high = 0, low = 0;
  for (const char c : name) {
    high = high * 29 + static_cast<unsigned char>(c);
    low = low * 131 + static_cast<unsigned char>(c);
  }
  return uint64_t{high} << 32 | low;
}

std::string name_of(const Trace& found, const TaskRecord& task) {
  const std::string_view name = found.text(task.name);
  if (!is_collective(task)) return std::string(name);
  std::string joined(name.substr(0, name.find('_') + 1));  // hcom_ of hcom_all_reduce
  bool starts = false;
  for (const char c : name.substr(joined.size())) {
    if (c != '_') joined += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts = c == '_';
  }
  if (joined == "hcom_recv") joined = "hcom_receive";
  return fmt::format("{}__{:03}_{}_1", joined, number_of_group(found.text(task.graph)) % 1000, task.step);
}

std::string_view unit_name(const TaskRecord& task) {
  switch (task.unit) {
    case trace::Unit::kCube: return "AI_CORE";
    case trace::Unit::kVector: return "AI_VECTOR_CORE";
    case trace::Unit::kMixed: return "MIX_AIC";
    case trace::Unit::kCollective: return "COMMUNICATION";
    case trace::Unit::kNone: break;
  }
  return "N/A";
}

}  // namespace npu::profile
