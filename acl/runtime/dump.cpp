// SPDX-License-Identifier: Apache-2.0
#include "acl/runtime/dump.h"

#include <atomic>
#include <nlohmann/json.hpp>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/include/anynpu/dump.h"
#include "acl/notice.h"
#include "acl/runtime/config.h"
#include "base/json_text.h"
#include "base/log.h"
#include "graph/dump/tensor/tensor_dump.h"

namespace npu::acl {
namespace {

using Json = nlohmann::json;

std::atomic<bool> prepared{false};  // aclmdlInitDump

/// The words of one "dump" object.
class Reader {
 public:
  Reader(const Json& dump, const std::string& name) : dump_(dump), name_(name) {}

  /// The text of a key, one of `allowed` where there are any; `otherwise` where it is missing.
  std::string word(const char* key, std::string otherwise, std::initializer_list<std::string_view> allowed = {}) const {
    const auto found = dump_.find(key);
    if (found == dump_.end() || *found == "") return otherwise;
    if (!found->is_string()) refuse(key, found->dump(), "write a text");
    const auto& text = found->get_ref<const std::string&>();
    if (allowed.size() > 0 && std::find(allowed.begin(), allowed.end(), text) == allowed.end())
      refuse(key, text, fmt::format("write one of {}", fmt::join(allowed, ", ")));
    return text;
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
  if (reader.word("dump_debug", "off", {"on", "off"}) == "on")
    fail(Code::kFeatureUnsupported,
         "configPath {}: dump.dump_debug, the dump of overflows, is not built yet; remove it, "
         "anynpu_each_overflow tells where they are",
         name);
  graph::DumpConfig config;
  const std::string mode = reader.word("dump_mode", "output", {"input", "output", "all"});
  config.inputs = mode != "output", config.outputs = mode != "input";
  config.statistics = reader.word("dump_data", "tensor", {"tensor", "stats"}) == "stats";
  config.single_operators = reader.word("dump_op_switch", "off", {"on", "off"}) == "on";
  config.steps = graph::StepSet::parse(reader.word("dump_step", ""));
  reader.read_list(config);
  // Dumps after a device fault (dump_scene) never come about: there are no such faults.
  if (!config.graphs && !config.single_operators) return {};
  config.path = reader.word("dump_path", "");
  if (config.path.empty())
    fail(Code::kInvalidDumpConfig, "configPath {}: dump.dump_path is missing; name the folder that receives the dump",
         name);
  return config;
}

void begin_dump(graph::DumpConfig config) {
  graph::start_dump(std::move(config), [](const std::string& text) { tell_once(text); });
  NPU_LOG(kInfo, "DUMP", "operators are dumped to {}", graph::dump_folder());
}

namespace {

/// Clients drop the codes of these functions, and their users would wait for files.
template <class F>
void told(F&& run) {
  try {
    run();
  } catch (const Error& error) {
    tell_once(error.message());
    throw;
  }
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlInitDump() {
  return call("aclmdlInitDump", [] {
    if (prepared.exchange(true))
      fail(Code::kDumpAlreadyRun, "aclmdlInitDump was called before; call aclmdlFinalizeDump first");
  });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
  return call("aclmdlSetDump", [&] {
    told([&] {
      if (!prepared) fail(Code::kDumpNotRun, "aclmdlInitDump was not called; call it first");
      std::optional<graph::DumpConfig> config = read_config(given(dumpCfgPath, "dumpCfgPath")).dump;
      if (!config)
        fail(Code::kInvalidDumpConfig,
             "dumpCfgPath {} asks for no dump; give dump.dump_list for graphs, or dump.dump_op_switch \"on\" for calls "
             "outside of graphs",
             dumpCfgPath);
      graph::stop_dump();  // the new words count from now on
      begin_dump(std::move(*config));
    });
  });
}

aclError aclmdlFinalizeDump() {
  return call("aclmdlFinalizeDump", [] {
    if (!prepared.exchange(false)) fail(Code::kDumpNotRun, "aclmdlInitDump was not called, so there is no dump to end");
    graph::stop_dump();
  });
}

aclError anynpu_dump_start(const char* json) {
  return call("anynpu_dump_start", [&] {
    std::optional<graph::DumpConfig> config = parse_config(given(json, "json"), "of anynpu_dump_start").dump;
    if (!config)
      fail(Code::kInvalidDumpConfig, "the text asks for no dump; give dump.dump_list or dump.dump_op_switch");
    begin_dump(std::move(*config));
  });
}

void anynpu_dump_stop() { graph::stop_dump(); }

void anynpu_dump_folder(void (*visit)(const char* folder, void* context), void* context) {
  if (const std::string folder = graph::dump_folder(); visit != nullptr && !folder.empty())
    visit(folder.c_str(), context);
}
