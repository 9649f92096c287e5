// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/stage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/setting.h"
#include "base/split.h"
#include "graph/dump/form.h"
#include "graph/dump/tensor/tensor_dump.h"
#include "graph/ir/print.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

NPU_SETTING(bool, dump_functions, "NPU_DUMP_GRAPH", false,
            "Write every stage of every compiled function as <function>.<n>.<stage>.pbtxt (GraphDef) and .dot.");
NPU_SETTING(int64_t, dump_ge, "DUMP_GE_GRAPH", 0,
            "Write graphs as ge_proto_*.txt and ge_onnx_*.pbtxt: 1 everything, 2 without weights, 3 structure only. "
            "PyTorch runs operator by operator and has none.");
NPU_SETTING(std::string, dump_level, "DUMP_GRAPH_LEVEL", "2",
            "Which graphs DUMP_GE_GRAPH writes: 1 all, 2 all but sub-graphs, 3 the last stage, 4 the first stage, or "
            "parts of stages' names, as in PreRunBegin|inline.");
NPU_SETTING(std::string, dump_path, "DUMP_GRAPH_PATH", "",
            "Folder of the dumped graphs, which go to its subfolder <pid>_<device>; default ASCEND_WORK_PATH, else the "
            "current folder.");

constexpr int kMostBuilds = 32;       // of one function: where sizes change with each step, more would fill the disk
constexpr size_t kLongestName = 180;  // of a file: systems take 255 bytes, number and stage included

struct State {
  std::mutex mutex;
  int next = 0;                       // of the vendor's files, over all functions
  std::map<std::string, int> each;    // of the files of one function
  std::map<std::string, int> builds;  // last stages of one function
  std::vector<std::string> said;      // warnings
  Json fusions = Json::object();
  std::string exported;  // the file of fusions beside the dumped graphs, "" for none
};

// Threads may still compile while the process ends: never destroyed.
State& state() {
  static State& instance = *new State;
  return instance;
}

void warn_once(State& s, const std::string& text) {
  if (std::find(s.said.begin(), s.said.end(), text) != s.said.end()) return;
  s.said.push_back(text);
  fmt::print(stderr, "anynpu: {}\n", text);
}

/// Letters, digits and a few signs stay; whatever could leave the folder or trouble a shell does not.
std::string file_name(std::string_view name) {
  std::string out;
  if (name.empty() || name.front() == '.' || name.front() == '-') out.push_back('_');
  for (const char c : name.substr(0, kLongestName)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    out.push_back(plain ? c : '_');
  }
  return out;
}

bool by_level(char level, std::string_view stage, Role role) {
  switch (level) {
    case '1': return true;
    case '3': return role == Role::kRoot && stage == kLastStage;
    case '4': return role == Role::kRoot && stage == kFirstStage;
    default: return role == Role::kRoot;
  }
}

/// Whether DUMP_GRAPH_LEVEL asks for this file.
bool level_wants(State& s, std::string_view stage, Role role) {
  const std::string& level = dump_level();
  if (level.size() == 1 && level[0] >= '1' && level[0] <= '4') return by_level(level[0], stage, role);
  std::vector<std::string_view> parts = split(level, "|");
  std::erase(parts, "");
  const auto is_number = [](std::string_view part) { return part.find_first_not_of("0123456789") == part.npos; };
  if (parts.empty() || std::any_of(parts.begin(), parts.end(), is_number)) {
    warn_once(
        s, fmt::format("DUMP_GRAPH_LEVEL={} is none of 1, 2, 3, 4, nor names of stages joined by |; using 2", level));
    return by_level('2', stage, role);
  }
  return role != Role::kOperator &&
         std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return stage.find(part) != stage.npos; });
}

/// The folder the settings name, made if missing; the current one, with a warning, where that cannot be written.
fs::path folder_of(State& s, int device) {
  const std::string work = setting_text("ASCEND_WORK_PATH");
  const fs::path wanted = !dump_path().empty() ? fs::path(dump_path()) / fmt::format("{}_{}", getpid(), device)
                                               : fs::path(work.empty() ? "." : work);
  std::error_code error;
  fs::create_directories(wanted, error);
  if (!error && access(wanted.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (!error) return wanted;
  warn_once(s, fmt::format("graphs cannot be dumped to {} ({}); they go to the current folder instead; set "
                           "DUMP_GRAPH_PATH to a folder that can be written",
                           wanted.string(), error.message()));
  return ".";
}

void write(State& s, const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) {
    warn_once(s, fmt::format("graphs cannot be dumped to {}; set DUMP_GRAPH_PATH to a folder with room that can be "
                             "written",
                             file.parent_path().string()));
  }
}

/// A dump of tensors brings the graph that its folders are named after.
bool only_for_tensors() { return dump_ge() == 0 && dumping(); }
Content content_wanted() { return only_for_tensors() ? Content::kNoWeights : static_cast<Content>(dump_ge()); }
bool stage_wanted(State& s, std::string_view stage, Role role) {
  return only_for_tensors() ? by_level('3', stage, role) : level_wants(s, stage, role);
}

void dump_function(State& s, const fs::path& folder, std::string_view stage, const Function& f) {
  const std::string name = file_name(f.name);
  const std::string stem = fmt::format("{}.{}.{}", name, s.each[name]++, stage);
  write(s, folder / (stem + ".pbtxt"), to_graph_def(f));
  write(s, folder / (stem + ".dot"), to_graphviz(f));
}

void dump_model(State& s, const fs::path& folder, std::string_view stage, const Function& f, const Program& program) {
  const std::string tail = fmt::format("{:05}_{}", s.next++, file_name(stage));
  const Content content = content_wanted();
  write(s, folder / fmt::format("ge_proto_{}.txt", tail), to_ge_text(f, program, content));
  write(s, folder / fmt::format("ge_onnx_{}.pbtxt", tail), to_onnx_text(f, content));
}

bool ge_wanted(State& s) {
  if ((dump_ge() >= 1 && dump_ge() <= 3) || only_for_tensors()) return true;
  if (dump_ge() != 0)
    warn_once(s, fmt::format("DUMP_GE_GRAPH={} is none of 1, 2 and 3; no graph is dumped", dump_ge()));
  return false;
}

bool dumps_wanted() { return dump_functions() || dump_ge() != 0 || dumping(); }

void dump_stage(std::string_view stage, const Function& function, const Program& program, Role role,
                int device) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  try {
    const bool model = ge_wanted(s) && stage_wanted(s, stage, role);
    const bool plain = dump_functions() && role != Role::kOperator;
    if (!model && !plain) return;
    if (stage == kLastStage && ++s.builds[function.name] > kMostBuilds) {
      return warn_once(s,
                       fmt::format("graph {} is compiled for ever new shapes; the first {} are dumped, no more of them",
                                   function.name, kMostBuilds));
    }
    const fs::path folder = folder_of(s, device);
    if (model) dump_model(s, folder, stage, function, program);
    if (plain) dump_function(s, folder, stage, function);
  } catch (const std::exception& e) {
    fmt::print(stderr, "anynpu: graph {} is not dumped: {}\n", function.name, e.what());
  }
}

void dump_fusions(const std::string& json, int device) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  try {
    s.fusions.update(Json::parse(json));
    if (s.fusions.empty()) return;
    const std::string text = s.fusions.dump(1);
    if (dump_ge() != 0 && ge_wanted(s)) write(s, folder_of(s, device) / "fusion_result.json", text);
    if (!s.exported.empty()) write(s, s.exported, text);
  } catch (const std::exception& e) {
    fmt::print(stderr, "anynpu: fusion_result.json is not written: {}\n", e.what());
  }
}

bool fusions_wanted() {
  if (dump_ge() != 0) return true;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return !s.exported.empty();
}

}  // namespace

bool StageFiles::wants_stages() const { return dumps_wanted(); }

void StageFiles::staged(std::string_view stage, const Function& function, const Program& program, Role role) {
  dump_stage(stage == "input" ? kFirstStage : stage, function, program, role, device_);
}

void StageFiles::planned(const PlanMade& made) {
  if (dumps_wanted()) dump_stage(kLastStage, made.with_shapes(), made.program(), made.role, device_);
  if (fusions_wanted()) dump_fusions(report_->fusion_json(), device_);
}

void export_fusions(std::string file) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.exported = std::move(file);
}

void reset_dumps() {
  dump_functions.reload();
  dump_ge.reload();
  dump_level.reload();
  dump_path.reload();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.next = 0, s.each.clear(), s.builds.clear(), s.said.clear();
  s.fusions = Json::object(), s.exported.clear();
}

}  // namespace npu::graph
