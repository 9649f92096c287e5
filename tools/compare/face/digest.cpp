// SPDX-License-Identifier: Apache-2.0
// Two runs by the files of digests that they left.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "tools/compare/digest/two_runs.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/arguments.h"
#include "tools/compare/face/face.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
using graph::record::DigestFile;

constexpr int kDifferent = 1;  // as diff has it
constexpr std::string_view kEnding = ".digest";

DigestFile opened(const std::string& path) {
  try {
    DigestFile file(path);
    if (!file.complete())
      warn(fmt::format("{} was not written to its end: the run was killed, or the disk was full.", path));
    return file;
  } catch (const Error& error) {
    throw Refusal(error.code() == Code::kInvalidFile ? Exit::kOpen : Exit::kDamaged, error.message());
  }
}

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == kEnding) names.insert(entry.path().filename());
  if (names.empty()) throw Refusal(Exit::kNoDump, fmt::format("{} holds no file of digests (*{}).", folder, kEnding));
  return names;
}

/// What `-json` prints: one object in a line for each pair of files.
void print(const std::string& name, const TwoRuns& runs, bool as_json) {
  if (!as_json) return fmt::print("{}{}{}\n", name, name.empty() ? "" : ": ", runs.text());
  Json out{{"file", name},
           {"equal", runs.equal()},
           {"operators", runs.operators},
           {"different", runs.different},
           {"text", runs.text()}};
  if (const auto& named = runs.operator_ ? runs.operator_ : runs.first) out["place"] = to_string(named->place);
  fmt::print("{}\n", out.dump());
}

/// Two files of one name, which are those of one rank.
struct Rank {
  std::string name;
  TwoRuns runs;
  bool same_end;

  bool brought() const { return runs.first && runs.first->brought; }
  int code() const { return runs.equal() && same_end ? 0 : kDifferent; }
};

Rank compare_files(const fs::path& one, const fs::path& other, const std::string& name) {
  const DigestFile first = opened(one.string()), second = opened(other.string());
  return {name, compared(first, second), first.complete() == second.complete()};
}

/// A rank to which only a collective brought something else stands behind the one that made it.
int compare_folders(const std::string& one, const std::string& other, bool as_json) {
  const auto names = files_in(one), others = files_in(other);
  if (names != others)
    throw Refusal(Exit::kMissing, fmt::format("{} and {} hold files of different names: {} and {} of them.", one, other,
                                              names.size(), others.size()));
  std::vector<Rank> ranks;
  for (const std::string& name : names)
    ranks.push_back(compare_files(fs::path(one) / name, fs::path(other) / name, name));
  std::ranges::stable_partition(ranks, [](const Rank& rank) { return !rank.brought(); });
  for (const Rank& rank : ranks) print(names.size() > 1 || as_json ? rank.name : "", rank.runs, as_json);
  return std::ranges::max(ranks, {}, &Rank::code).code();
}

}  // namespace

int digest_face(const Words& arguments) {
  Words paths = arguments;
  const bool as_json = std::erase(paths, "-json") > 0;
  if (paths.size() != 2 || paths[0].starts_with('-') || paths[1].starts_with('-'))
    throw UsageError{"digest takes the files or the folders of two runs, and -json"};
  for (const std::string& path : paths)
    if (!fs::exists(path)) throw Refusal(Exit::kPath, fmt::format("{} is not there.", path));
  if (fs::is_directory(paths[0]) != fs::is_directory(paths[1]))
    throw Refusal(Exit::kPath, fmt::format("{} and {} are a file and a folder.", paths[0], paths[1]));
  if (fs::is_directory(paths[0])) return compare_folders(paths[0], paths[1], as_json);
  const Rank rank = compare_files(paths[0], paths[1], "");
  print(rank.name, rank.runs, as_json);
  return rank.code();
}

}  // namespace npu::compare
