// SPDX-License-Identifier: Apache-2.0
// Conversion of models, and what model files tell.
#include "graph/convert/convert.h"

#include <string>

#include "acl/call.h"
#include "acl/include/anynpu/model.h"
#include "acl/model/loaded.h"
#include "base/json.h"
#include "graph/convert/check.h"
#include "graph/convert/importer.h"
#include "graph/dump/form.h"
#include "graph/dump/record/graph_text.h"
#include "graph/model/model_note.h"

namespace npu::acl {
namespace {

using graph::convert::Flags;

Flags flags_of(const char* const* flags, size_t count) {
  Flags out;
  if (count > 0) given(flags, "flags");
  for (size_t i = 0; i < count; ++i) out[given(flags[2 * i], "a flag's name")] = given(flags[2 * i + 1], "a value");
  return out;
}

void give(anynpu_take take, std::string_view text, void* context) { take(text.data(), text.size(), context); }

graph::Program functions_of(const graph::model::Model& model, bool after_passes) {
  return after_passes ? model.compiled : model.original;
}

std::string facts_of(const ModelBytes& from) {
  const graph::model::Model model = graph::model::read_model(from.bytes, from.keeper);
  graph::model::check_weights(from.bytes);
  Json out = graph::model::to_note(model);
  out["weight_bytes"] = model.weight_bytes;
  for (const auto& [section, bytes] : graph::model::section_sizes(from.bytes)) out["sections"][section] = bytes;
  size_t before = 0, after = 0;
  for (const auto& [name, function] : model.original.functions) before += function->nodes.size();
  for (const auto& [name, function] : model.compiled.functions) after += function->nodes.size();
  out["nodes"] = {{"before", before}, {"after", after}};
  return out.dump(1, InvalidUtf8::kReplace);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError anynpu_model_convert(anynpu_framework framework, const void* model, size_t size, const char* name,
                              const char* folder, const char* const* flags, size_t flag_count, anynpu_take take_line,
                              anynpu_take take_om, void* context) {
  return call("anynpu_model_convert", [&] {
    const std::string_view bytes(static_cast<const char*>(given(model, "model")), size);
    given(take_om, "take_om");
    graph::convert::Request request = graph::convert::read_request(flags_of(flags, flag_count));
    request.name = given(name, "name");
    if (take_line != nullptr)
      for (const std::string& line : request.notices) give(take_line, line, context);
    graph::Imported imported =
        graph::convert::import_model(static_cast<int>(framework), bytes, request, folder == nullptr ? "" : folder);
    give(take_om, graph::model::to_bytes(graph::convert::convert(std::move(imported), request)), context);
  });
}

aclError anynpu_model_check(anynpu_framework framework, const void* model, size_t size, const char* folder,
                            const char* const* flags, size_t flag_count, anynpu_take take_text, void* context) {
  return call("anynpu_model_check", [&] {
    const std::string_view bytes(static_cast<const char*>(given(model, "model")), size);
    given(take_text, "take_text");
    const auto request = graph::convert::read_request(flags_of(flags, flag_count));
    const std::string report =
        graph::convert::check(static_cast<int>(framework), bytes, request, folder == nullptr ? "" : folder);
    give(take_text, report, context);
  });
}

aclError anynpu_model_json(const void* om, size_t size, int32_t after_passes, anynpu_take take_text, void* context) {
  return call("anynpu_model_json", [&] {
    given(take_text, "take_text");
    const ModelBytes from = copy_model(om, size);
    const graph::model::Model model = graph::model::read_model(from.bytes, from.keeper);
    const graph::Program functions = functions_of(model, after_passes != 0);
    const std::string text = graph::to_ge_text(functions.get(model.function), functions, graph::Content::kNoWeights);
    const std::string json = graph::record::parse_graph_text(text).dump(1, InvalidUtf8::kReplace) + "\n";
    give(take_text, json, context);
  });
}

aclError anynpu_model_facts(const void* om, size_t size, anynpu_take take_text, void* context) {
  return call("anynpu_model_facts", [&] {
    given(take_text, "take_text");
    give(take_text, facts_of(copy_model(om, size)), context);
  });
}
