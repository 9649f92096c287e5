// SPDX-License-Identifier: Apache-2.0
#include "graph/model/model_file.h"

#include <cstring>

#include "base/json.h"
#include "graph/ir/verify.h"
#include "graph/model/container.h"
#include "graph/model/dialects.h"
#include "graph/model/function_file.h"
#include "graph/model/model_note.h"

namespace npu::graph::model {
namespace {

constexpr std::string_view kVendorMagic = "IMOD";

[[noreturn]] void refuse(std::string_view how) {
  fail(kDamagedModel, "the model file cannot be used: {}; convert the model again with atc", how);
}

/// Runs `read` and makes one refusal of all it may meet.
template <class Read>
auto guarded(std::span<const std::byte> bytes, Read&& read) {
  if (bytes.empty()) fail(kNoModelData, "the model is empty: 0 bytes; name a file that atc wrote");
  if (bytes.size() >= kVendorMagic.size() && std::memcmp(bytes.data(), kVendorMagic.data(), kVendorMagic.size()) == 0)
    fail(kDamagedModel,
         "this .om was made by the vendor's atc for a real NPU and holds its machine code; convert the original model "
         "again with the atc of this library: atc --model=… --framework=5 --output=… --soc_version=…");
  try {
    return read();
  } catch (const Error& e) {
    if (e.code() == kDamagedModel) throw;
    refuse(e.message());
  } catch (const JsonError&) {
    refuse("its description does not hold together");
  }
}

std::span<const std::byte> note_of(const Container& container) {
  const auto note = container.section(SectionKind::kNote);
  if (note.empty()) refuse("it is a container without a model");
  return note;
}

Json read_note(const Container& container) {
  const auto text = note_of(container);
  Json note = Json::parse({reinterpret_cast<const char*>(text.data()), text.size()});
  if (const int64_t version = note.at("version").get<int64_t>(); version > kModelVersion)
    refuse(fmt::format("its form is {}, and this library knows forms up to {}: install the library that wrote it, or",
                       version, kModelVersion));
  return note;
}

void check(const Gear& gear, const Model& model) {
  if (gear.inputs.size() != model.inputs.size() || gear.outputs.size() != model.outputs.size())
    refuse("a gear of it has another number of inputs and outputs");
  const size_t numbers = gear.values.size();
  if (numbers == 0 || (model.gear_kind == GearKind::kBatch && numbers != 1) ||
      (model.gear_kind == GearKind::kImage && numbers != 2))
    refuse(fmt::format("a gear of it has {} sizes", numbers));
}

/// Every argument is a port of the same type, and the same of the results.
void check(const Model& model) {
  for (const Program* program : {&model.original, &model.compiled}) {
    verify(*program);
    const Function& f = program->get(model.function);
    if (f.arguments.size() != model.inputs.size() || f.results.size() != model.outputs.size())
      refuse("its description tells other inputs and outputs than its functions");
    for (size_t i = 0; i < model.inputs.size(); ++i)
      if (f.arguments[i].value.type != ValueType::tensor(model.inputs[i].dtype))
        refuse(fmt::format("its input {} has two types", model.inputs[i].name));
  }
  for (const Gear& gear : model.gears) check(gear, model);
}

void add(FunctionWriter& writer, const Program& program) {
  for (const auto& [name, function] : program.functions) writer.add(*function);
}

}  // namespace

std::string to_bytes(const Model& model) {
  FunctionWriter writer;
  add(writer, model.original);
  add(writer, model.compiled);
  auto sections = writer.sections();
  const std::string_view data = sections.back().second;
  Json note = to_note(model);
  note["version"] = kModelVersion;
  note["words"] = name_of_dialect(*model.original.get(model.function).dialect);
  note["functions"] = model.original.functions.size();
  note["weights"] = {{"bytes", data.size()}, {"digest", digest_of(data).text()}};
  sections.insert(sections.begin(), {SectionKind::kNote, note.dump(-1, InvalidUtf8::kReplace)});
  return to_container(sections, Apart::kData);
}

std::span<const std::byte> weights_of(std::span<const std::byte> bytes) {
  return guarded(bytes, [&] { return Container(bytes).section(SectionKind::kData); });
}

Model read_model(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper,
                 std::span<const std::byte> weights) {
  return guarded(bytes, [&] {
    const Container container(bytes);
    const Json note = read_note(container);
    Model model = from_note(note);
    const Dialect& dialect = dialect_named(note.at("words").get<std::string>());
    size_t originals = note.at("functions").get<size_t>();
    for (auto& function : read_functions(container, dialect, {std::move(keeper), true, weights})) {
      (originals > 0 ? model.original : model.compiled).add(std::move(function));
      if (originals > 0) --originals;
    }
    model.weight_bytes = static_cast<int64_t>(container.section(SectionKind::kData).size());
    check(model);
    return model;
  });
}

void check_weights(std::span<const std::byte> bytes) {
  guarded(bytes, [&] {
    const Container container(bytes);
    const Json note = read_note(container);
    if (note.at("weights").at("digest") != digest_of(container.section(SectionKind::kData)).text())
      refuse("its weights are damaged");
  });
}

std::vector<std::pair<std::string, size_t>> section_sizes(std::span<const std::byte> bytes) {
  return guarded(bytes, [&] {
    const Container container(bytes);
    return std::vector<std::pair<std::string, size_t>>{
        {"description", note_of(container).size()},
        {"names", container.section(SectionKind::kTexts).size()},
        {"functions", container.section(SectionKind::kFunctions).size()},
        {"weights", container.section(SectionKind::kData).size()},
    };
  });
}

}  // namespace npu::graph::model
