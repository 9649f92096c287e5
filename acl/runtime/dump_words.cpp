// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/dump_words.h"

#include <algorithm>
#include <array>

#include "acl/notice.h"
#include "base/error.h"
#include "base/json.h"

namespace npu::acl {
namespace {

/// The words of one "dump" object.
class Reader {
 public:
  Reader(const Json& dump, const std::string& name) : dump_(dump), name_(name) {}

  /// The text of a key, one of `allowed` where there are any; `otherwise` where it is missing.
  std::string word(const char* key, std::string otherwise, std::initializer_list<std::string_view> allowed = {}) const {
    const auto found = dump_.find(key);
    if (found == dump_.end() || *found == "") return otherwise;
    if (!found->is_string()) refuse(key, found->dump(), "write a text");
    const auto& text = found->as_string();
    if (allowed.size() > 0 && std::find(allowed.begin(), allowed.end(), text) == allowed.end())
      refuse(key, text, fmt::format("write one of {}", fmt::join(allowed, ", ")));
    return text;
  }

  graph::Overflows overflows() const {
    const std::string mode = word("dump_debug_mode", "all", {"aicore_overflow", "atomic_overflow", "all"});
    if (word("dump_debug", "off", {"on", "off"}) == "off") return graph::Overflows::kNone;
    if (mode == "all") return graph::Overflows::kAll;
    return mode == "atomic_overflow" ? graph::Overflows::kAtomic : graph::Overflows::kAiCore;
  }

  /// A key that is not read has no effect, which who wrote it would not notice.
  void tell_unknown() const {
    static constexpr std::array kKnown{
        "dump_path",      "dump_mode",  "dump_data",       "dump_step",  "dump_list",
        "dump_op_switch", "dump_debug", "dump_debug_mode", "dump_scene", "enable_exception_dump"};
    for (const auto& [key, value] : dump_.items())
      if (std::ranges::find(kKnown, key) == kKnown.end())
        tell_once(
            fmt::format("configPath {}: dump.{} has no effect; known are {}", name_, key, fmt::join(kKnown, ", ")));
  }

  void read_list(graph::DumpConfig& config) const {
    const auto list = dump_.find("dump_list");
    config.graphs = list != dump_.end() && !list->empty();
    if (!config.graphs) return;
    if (!list->is_array()) refuse("dump_list", list->dump(), "write a list of models, or [{}] for all");
    bool all = false;
    for (const Json& model : *list) {
      if (!model.is_object()) refuse("dump_list", model.dump(), "write each model as {\"model_name\": …}");
      const graph::DumpConfig::Names layers = layers_of(model);
      const auto named = model.find("model_name");
      if (named != model.end() && named->is_string() && *named != "")
        config.models[named->get<std::string>()] = layers;
      else
        all = true, config.layers.insert(layers.begin(), layers.end());
    }
    if (all) config.models.clear();
  }

 private:
  graph::DumpConfig::Names layers_of(const Json& model) const {
    graph::DumpConfig::Names names;
    const auto layers = model.find("layer");
    if (layers == model.end()) return names;
    if (!layers->is_array()) refuse("layer", layers->dump(), "write a list of operators' names");
    for (const Json& layer : *layers) {
      if (!layer.is_string()) refuse("layer", layer.dump(), "write a name");
      names.insert(layer.get<std::string>());
    }
    return names;
  }

  [[noreturn]] void refuse(const char* key, std::string_view value, std::string_view cure) const {
    fail(Code::kInvalidDumpConfig, "configPath {}: dump.{} is {}; {}", name_, key, value, cure);
  }

  const Json& dump_;
  const std::string& name_;
};

}  // namespace

std::optional<graph::DumpConfig> parse_dump(const Json& dump, const std::string& name) {
  if (!dump.is_object()) fail(Code::kInvalidDumpConfig, "configPath {}: dump is no object", name);
  const Reader reader(dump, name);
  reader.tell_unknown();
  graph::DumpConfig config;
  config.overflows = reader.overflows();
  const std::string mode = reader.word("dump_mode", "output", {"input", "output", "all"});
  config.inputs = mode != "output", config.outputs = mode != "input";
  config.statistics = reader.word("dump_data", "tensor", {"tensor", "stats"}) == "stats";
  config.single_operators = reader.word("dump_op_switch", "off", {"on", "off"}) == "on";
  config.steps = graph::StepSet::parse(reader.word("dump_step", ""));
  reader.read_list(config);
  if (config.overflows != graph::Overflows::kNone) {
    if (config.graphs || config.single_operators)
      fail(Code::kInvalidDumpConfig,
           "configPath {}: dump.dump_debug excludes dump_list and dump_op_switch; ask for overflows or for all "
           "operators",
           name);
    config.graphs = config.single_operators = true;
    config.statistics = false;
  }
  // Dumps after a device fault (dump_scene) never come about: there are no such faults.
  if (!config.graphs && !config.single_operators) return {};
  config.path = reader.word("dump_path", "");
  if (config.path.empty())
    fail(Code::kInvalidDumpConfig, "configPath {}: dump.dump_path is missing; name the folder that receives the dump",
         name);
  return config;
}

bool parse_exception_dump(const Json& dump, const std::string& name) {
  const auto found = dump.find("enable_exception_dump");
  if (found == dump.end() || *found == 0) return false;
  if (*found != 1 && *found != 2)
    fail(Code::kInvalidDumpConfig, "configPath {}: dump.enable_exception_dump is {}; write 0, 1 or 2", name,
         found->dump());
  return true;
}

}  // namespace npu::acl
