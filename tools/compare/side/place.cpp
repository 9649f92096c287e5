// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/side/place.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/mapping.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/side/array_name.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
namespace record = graph::record;

constexpr size_t kTimeDigits = 14;

bool all_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const fs::path& folder) {
  std::vector<std::string> words;
  for (const fs::path& word : folder) words.push_back(word.string());
  return words;
}

/// {time}/{device}[/{model}/{number}/{step}]
Place device_place(const fs::path& folder) {
  Place place{Kind::kDevice, folder.string(), "", "", "", std::nullopt, {}};
  const std::vector<std::string> words = words_of(folder);
  const auto is_time = [](const std::string& word) { return word.size() == kTimeDigits && all_digits(word); };
  const auto last = std::find_if(words.rbegin(), words.rend(), is_time);
  if (last == words.rend()) {
    place.step = number_of(folder.filename().string());
    return place;
  }
  const auto time = last.base() - 1;
  const auto word = [&](int i) { return words.end() - time > i ? *(time + i) : std::string(); };
  place.time = *time, place.device = word(1), place.step = number_of(word(4));
  if (!word(2).empty()) place.model = word(2) + (word(3).empty() ? "" : "/" + word(3));
  return place;
}

/// step{n}/rank{r}, or step{n}/proc{process}
Place msprobe_place(const fs::path& folder) {
  Place place{Kind::kMsprobe, folder.string(), "", "", "", std::nullopt, {}};
  for (const std::string& word : words_of(folder)) {
    if (word.starts_with("step")) place.step = number_of(std::string_view(word).substr(4));
    if (word.starts_with("rank")) place.device = word;
  }
  return place;
}

/// The name that a file should have.
std::string full_name(const fs::path& file, std::map<std::string, record::Mapping>& mappings) {
  const std::string name = file.filename().string();
  if (!all_digits(file.stem().string())) return name;
  const std::string folder = file.parent_path().string();
  auto at = mappings.find(folder);
  if (at == mappings.end()) at = mappings.emplace(folder, record::read_mapping(folder)).first;
  const auto found = at->second.find(name);
  return found == at->second.end() ? name : found->second;
}

class Finder {
 public:
  void look(const fs::path& file) {
    const std::string name = full_name(file, mappings_);
    const fs::path folder = file.parent_path();
    if (name == "dump.json") {
      place(folder, msprobe_place);
    } else if (const auto array = parse_array_name(name); array && folder.filename() != "dump_tensor_data") {
      place(folder, [](const fs::path& f) {
        return Place{Kind::kArrays, f.string(), "", "", "", std::nullopt, {}};
      }).names.insert(array->op);
    } else if (const auto parsed = record::parse_name(name);
               parsed && !name.ends_with(".npy") && !name.ends_with(".json") && !name.ends_with(".csv")) {
      place(folder, device_place).names.insert(record::without_slice(parsed->op_name));
    }
  }
  std::map<std::string, Place> found;

 private:
  Place& place(const fs::path& folder, const std::function<Place(const fs::path&)>& make) {
    auto at = found.find(folder.string());
    if (at == found.end()) at = found.emplace(folder.string(), make(folder)).first;
    return at->second;
  }
  std::map<std::string, record::Mapping> mappings_;
};

using Places = std::vector<const Place*>;

Places only(const Places& places, const std::function<bool(const Place&)>& wanted) {
  Places left;
  for (const Place* place : places)
    if (wanted(*place)) left.push_back(place);
  return left;
}

std::set<std::string> words(const Places& places, std::string Place::*member) {
  std::set<std::string> found;
  for (const Place* place : places) found.insert(place->*member);
  return found;
}

/// How many names two models have in common.
size_t shared(const Places& mine, const Places& golden) {
  if (mine[0]->kind == Kind::kMsprobe) return 1;
  std::set<std::string> theirs;
  for (const Place* place : golden) theirs.insert(place->names.begin(), place->names.end());
  return static_cast<size_t>(
      std::ranges::count_if(mine[0]->names, [&](const std::string& name) { return theirs.contains(name); }));
}

struct Candidate {
  size_t shared;
  bool same_model;
  std::string mine, golden;
};

std::vector<Candidate> candidates(const Places& mine, const Places& golden) {
  std::vector<Candidate> found;
  for (const std::string& m : words(mine, &Place::model))
    for (const std::string& g : words(golden, &Place::model)) {
      const Places left = only(mine, [&](const Place& p) { return p.model == m; });
      const Places right = only(golden, [&](const Place& p) { return p.model == g; });
      found.push_back({shared(left, right), m == g, m, g});
    }
  std::ranges::stable_sort(found, std::greater(), [](const Candidate& c) { return std::pair(c.shared, c.same_model); });
  return found;
}

/// Leaves the newest time of each side.
Places newest(const Places& places, const char* side, std::vector<std::string>& notes) {
  const auto times = words(places, &Place::time);
  if (times.size() > 1)
    notes.push_back(fmt::format("{}: of the times {} the newest is taken", side, fmt::join(times, ", ")));
  return only(places, [&](const Place& p) { return p.time == *times.rbegin(); });
}

/// Leaves one device, the same on both sides where they have one in common.
void keep_device(Places& mine, Places& golden, std::vector<std::string>& notes) {
  const auto ours = words(mine, &Place::device), theirs = words(golden, &Place::device);
  const auto common = std::ranges::find_if(ours, [&](const std::string& d) { return theirs.contains(d); });
  const std::string mine_device = common == ours.end() ? *ours.begin() : *common;
  const std::string golden_device = common == ours.end() ? *theirs.begin() : *common;
  if (ours.size() > 1)
    notes.push_back(fmt::format("run: of the devices {}, {} is compared; name the folder of another one to see it",
                                fmt::join(ours, ", "), mine_device));
  mine = only(mine, [&](const Place& p) { return p.device == mine_device; });
  golden = only(golden, [&](const Place& p) { return p.device == golden_device; });
}

void keep_model(Places& mine, Places& golden, std::vector<std::string>& notes) {
  const std::vector<Candidate> found = candidates(mine, golden);
  const Candidate& best = found[0];
  if (found.size() > 1 && found[1].shared == best.shared && found[1].same_model == best.same_model &&
      (best.shared == 0 || found[1].mine != best.mine))
    throw Refusal(Exit::kParameter, fmt::format("\"{}\" and \"{}\" of the run fit the golden equally well; name the "
                                                "folder of one model on both sides",
                                                best.mine, found[1].mine));
  if (words(mine, &Place::model).size() > 1)
    notes.push_back(fmt::format("run: of its models, {} has most in common with the golden",
                                best.mine.empty() ? "the calls outside of graphs" : best.mine));
  mine = only(mine, [&](const Place& p) { return p.model == best.mine; });
  golden = only(golden, [&](const Place& p) { return p.model == best.golden; });
}

/// Steps that both have; arrays of a framework tell no step, and stand for the first one.
void pair_steps(const Places& mine, const Places& golden, Choice& choice) {
  if (mine.size() == 1 && golden.size() == 1) {
    choice.steps.emplace_back(*mine[0], *golden[0]);
    return;
  }
  for (const Place* m : mine) {
    const auto same = std::ranges::find_if(golden, [&](const Place* g) { return g->step == m->step; });
    if (same != golden.end() && m->step) choice.steps.emplace_back(*m, **same);
  }
  if (!choice.steps.empty()) return;
  choice.steps.emplace_back(*mine[0], *golden[0]);
  choice.notes.push_back(
      golden[0]->kind == Kind::kArrays
          ? std::string("golden: arrays tell no step; they are compared with the first one of the run")
          : fmt::format("no step of one number on both sides: {} is compared with {}", mine[0]->folder,
                        golden[0]->folder));
}

}  // namespace

std::vector<Place> places_below(const std::string& path) {
  if (!fs::is_directory(path)) throw Refusal(Exit::kPath, fmt::format("{} is no folder.", path));
  Finder finder;
  const fs::path folder = fs::canonical(path);
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied))
    if (entry.is_regular_file()) finder.look(entry.path());
  std::vector<Place> places;
  for (auto& [name, place] : finder.found) places.push_back(std::move(place));
  if (places.empty())
    throw Refusal(Exit::kNoDump, fmt::format("{} holds no dump: neither files of the NPU ({{type}}.{{name}}.{{task}}."
                                             "{{stream}}.{{time}}), nor arrays ({{name}}.{{output}}.{{time}}.npy), nor "
                                             "a dump.json",
                                             path));
  std::ranges::stable_sort(places, {}, [](const Place& p) { return p.step.value_or(0); });
  return places;
}

Choice choose(const std::vector<Place>& mine, const std::vector<Place>& golden) {
  Choice choice;
  const auto pointers = [](const std::vector<Place>& places) {
    Places found;
    const bool msprobe = std::ranges::any_of(places, [](const Place& p) { return p.kind == Kind::kMsprobe; });
    for (const Place& place : places)
      if (!msprobe || place.kind == Kind::kMsprobe) found.push_back(&place);
    return found;
  };
  Places ours = pointers(mine), theirs = pointers(golden);
  if (ours[0]->kind == Kind::kArrays || (ours[0]->kind == Kind::kMsprobe) != (theirs[0]->kind == Kind::kMsprobe))
    throw Refusal(Exit::kDumpType,
                  "Compared are a dump of the NPU with another one or with arrays of a framework, and "
                  "a dump of msprobe with another one of msprobe.");
  keep_device(ours, theirs, choice.notes);
  ours = newest(ours, "run", choice.notes), theirs = newest(theirs, "golden", choice.notes);
  keep_model(ours, theirs, choice.notes);
  pair_steps(ours, theirs, choice);
  return choice;
}

}  // namespace npu::compare
