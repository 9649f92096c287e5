// SPDX-License-Identifier: Apache-2.0
#include "graph/cache/cache.h"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>

#include "base/cache_path.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/setting.h"
#include "base/split.h"
#include "graph/ir/verify.h"

namespace npu::graph::cache {
namespace {

namespace fs = std::filesystem;

NPU_SETTING(std::string, mode_that_wins, "ANYNPU_COMPILE_CACHE", "",
            "enable, disable or force: whether compiled functions are kept on disk, whatever op_compiler_cache_mode "
            "says.");

constexpr size_t kFewestNodes = 32;  // of a function with all it reaches: smaller ones are compiled as fast as read

size_t node_count(const Function& function, const Program& program) {
  size_t count = function.nodes.size();
  for (const auto& one : reached_from(function, program)) count += one->nodes.size();
  return count;
}

/// Functions that passes made of others are known by their names.
std::vector<std::shared_ptr<Function>> made_for(const Function& function, const Program& program) {
  std::vector<std::shared_ptr<Function>> out;
  for (const auto& one : reached_from(function, program))
    if (client_name(one->name) != one->name) out.push_back(one);
  return out;
}

std::string description(const Key& key, const Function& function, const std::vector<std::shared_ptr<Function>>& made,
                        const std::vector<PassReport>& passes, size_t bytes, double milliseconds) {
  OrderedJson out{{"what", "a function of a graph, compiled by AnyNPU"}, {"function", function.name}};
  out["key"] = key.name();
  for (const std::string_view line : split(key.text, "\n")) out["key_of"].push_back(line);
  out["nodes_before"] = passes.empty() ? function.nodes.size() : passes.front().nodes_before;
  out["nodes"] = function.nodes.size();
  out["made_of_others"] = OrderedJson::array();
  for (const auto& one : made) out["made_of_others"].push_back(one->name);
  out["bytes"] = bytes;
  out["compile_ms"] = milliseconds;
  out["made"] = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
  return out.dump(1, InvalidUtf8::kReplace) + "\n";
}

/// Once a process and place: a second library must not lose what the first has just kept.
void clear_once(const Folder& folder) {
  static std::mutex& mutex = *new std::mutex;
  static auto& cleared = *new std::set<fs::path>;
  const std::lock_guard lock(mutex);
  if (cleared.insert(folder.path()).second) folder.clear();
}

}  // namespace

Mode mode_of(std::string_view word, std::string_view option) {
  if (word == "enable") return Mode::kEnable;
  if (word == "disable") return Mode::kDisable;
  if (word == "force") return Mode::kForce;
  fail(Code::kNnInvalidParam, "{} is '{}'; write enable, disable or force", option, word);
}

Mode mode_in_force(std::string_view word) {
  const Mode asked = mode_of(word, "op_compiler_cache_mode");
  return mode_that_wins().empty() ? asked : mode_of(mode_that_wins(), "ANYNPU_COMPILE_CACHE");
}

fs::path place_of(std::string_view folder) {
  const fs::path root = folder.empty() ? cache_path("", "atc_data") : fs::path(folder);
  return root / "kernel_cache";
}

std::string to_string(const Lookup& lookup) {
  switch (lookup.outcome) {
    case Outcome::kHit: return "hit " + lookup.key;
    case Outcome::kMiss: return "miss " + lookup.key;
    default: return "not kept: " + lookup.reason;
  }
}

Cache::Cache(Mode mode, fs::path place) : folder_(std::move(place)) {
  if (mode == Mode::kForce) clear_once(folder_);
}

std::shared_ptr<Cache> open(Mode mode, const fs::path& place) {
  return mode == Mode::kDisable ? nullptr : std::make_shared<Cache>(mode, place);
}

void Cache::warn_once(std::string_view about, const std::string& text) {
  NPU_LOG(kWarning, "GRAPH", "compile cache: {}", text);
  const std::lock_guard lock(mutex_);
  if (warned_.emplace(about).second) fmt::print(stderr, "anynpu: compile cache: {}\n", text);
}

std::vector<PassReport> Cache::run_passes(Function& function, Program& program, const PassOptions& options,
                                          Lookup& lookup) {
  const auto compile = [&](std::string reason) {
    lookup = {Outcome::kLeft, "", std::move(reason)};
    return graph::run_passes(function, program, options);
  };
  if (options.watch) return compile("its graphs are written, stage by stage");
  if (const size_t nodes = node_count(function, program); nodes < kFewestNodes)
    return compile(fmt::format("it has {} nodes, which are compiled as fast as read", nodes));
  const Key key = key_of(function, program, options);
  lookup = {Outcome::kHit, key.name(), ""};
  std::vector<PassReport> passes;
  if (take(key, function, program, passes)) return passes;
  lookup.outcome = Outcome::kMiss;
  const auto start = std::chrono::steady_clock::now();
  passes = graph::run_passes(function, program, options);
  keep(key, function, program, passes,
       std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  return passes;
}

bool Cache::take(const Key& key, Function& function, Program& program, std::vector<PassReport>& passes) {
  const std::optional<std::string> bytes = folder_.find(key.name());
  if (!bytes) return false;
  try {
    KeptFunction kept = from_bytes(std::as_bytes(std::span(*bytes)), key.text, *function.dialect);
    for (auto& made : kept.made)
      if (!program.functions.contains(made->name)) program.add(std::move(made));
    verify(*kept.function, program);
    function = std::move(*kept.function);
    passes = std::move(kept.passes);
    return true;
  } catch (const Error& e) {
    warn_once("entry", fmt::format("{} is of no use, and is made anew: {}",
                                   (folder_.path() / (key.name() + ".o")).string(), e.message()));
    return false;
  }
}

void Cache::keep(const Key& key, const Function& function, const Program& program,
                 const std::vector<PassReport>& passes, double milliseconds) {
  try {
    const auto made = made_for(function, program);
    const std::string bytes = to_bytes({std::make_shared<Function>(function), made, passes}, key.text);
    const fs::path root = folder_.path().parent_path();
    folder_.put(key.name(), bytes, description(key, function, made, passes, bytes.size(), milliseconds),
                limit_of(root));
    write_limit(root);
  } catch (const Error& e) {
    warn_once("write", fmt::format("nothing is kept: {}. Functions are compiled as if nobody asked to keep them; free "
                                   "space there, or name another folder with op_compiler_cache_dir",
                                   e.message()));
  }
}

}  // namespace npu::graph::cache
