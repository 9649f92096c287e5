// SPDX-License-Identifier: Apache-2.0
// Descriptions of models.
#include "acl/model/description.h"

#include <algorithm>

#include "acl/call.h"
#include "acl/model/port.h"

namespace npu::acl {
namespace {

using graph::model::GearKind;
using graph::model::Port;

/// Raises 100000 for a description that was never filled.
const ModelFacts& facts_of(const aclmdlDesc* desc) {
  const aclmdlDesc& live = described(desc, "modelDesc");
  if (!live.facts) fail(Code::kInvalidParam, "modelDesc is empty; fill it with aclmdlGetDesc");
  return *live.facts;
}

void fill(aclmdlDesc& desc, std::shared_ptr<ModelFacts> facts, const std::shared_ptr<LoadedModel>& loaded) {
  desc.facts = std::move(facts);
  desc.loaded = loaded;
  desc.id = loaded ? loaded->id() : 0;
  desc.real_names.clear();
  desc.attributes.clear();
}

std::shared_ptr<ModelFacts> facts_of(const ModelBytes& from) {
  auto facts = std::make_shared<ModelFacts>();
  facts->model = graph::model::read_model(from.bytes, from.keeper);
  facts->model.original = facts->model.compiled = {};
  return facts;
}

/// The name as aclmdlIODims has room for it; a longer one is told by a short one that no other tensor has.
std::string short_name(aclmdlDesc& desc, Side side, size_t index, const std::string& name) {
  if (name.size() < ACL_MAX_TENSOR_NAME_LEN) return name;
  std::string out = fmt::format("acl_modelId_{}_{}_{}", desc.id, side == Side::kInput ? "input" : "output", index);
  const auto taken = [&] {
    const auto named = [&](const Port& port) { return port.name == out; };
    return std::ranges::any_of(desc.facts->model.inputs, named) ||
           std::ranges::any_of(desc.facts->model.outputs, named);
  };
  for (int number = 1; taken(); ++number)
    out = fmt::format("acl_modelId_{}_{}_{}_{}", desc.id, side == Side::kInput ? "input" : "output", index, number);
  desc.real_names[out] = name;
  return out;
}

void tell(aclmdlIODims& to, const std::string& name, const Dims& shape) {
  std::ranges::fill(to.name, '\0');
  name.copy(to.name, sizeof to.name - 1);
  to.dimCount = shape.size();
  std::ranges::copy(shape, to.dims);
}

/// Inputs as they are described, outputs in a gear.
aclError tell_dims(const char* function, const aclmdlDesc* modelDesc, Side side, size_t index, aclmdlIODims* dims,
                   bool chosen) {
  return call(function, [&] {
    const ModelFacts& facts = facts_of(modelDesc);
    aclmdlIODims& to = result(dims, "dims");
    const Port port = port_at(facts, side, index);
    const int64_t gear = chosen ? facts.gear.load() : -1;
    Dims shape = port.shape;
    if (side == Side::kOutput && facts.has_gears())
      shape = shape_in(facts, side, index, gear < 0 ? largest_gear(facts.model) : static_cast<size_t>(gear));
    tell(to, short_name(const_cast<aclmdlDesc&>(*modelDesc), side, index, port.name), shape);
  });
}

template <class T, class F>
T ask_port(const char* function, const aclmdlDesc* desc, Side side, size_t index, T nothing, F&& what) {
  return call_or<T>(function, nothing, [&] { return what(port_at(facts_of(desc), side, index)); });
}

/// Owned by the description's facts, so that it lives as long as they do.
const char* name_at(const char* function, const aclmdlDesc* desc, Side side, size_t index) {
  return call_or<const char*>(function, nullptr, [&] {
    const ModelFacts& facts = facts_of(desc);
    port_at(facts, side, index);
    if (side == Side::kInput && chooses_gear(facts, index)) return graph::model::kGearInput.data();
    const auto& ports = side == Side::kInput ? facts.model.inputs : facts.model.outputs;
    return ports[index].name.c_str();
  });
}

aclError index_of(const char* function, const aclmdlDesc* desc, Side side, const char* name, size_t* index) {
  return call(function, [&] {
    const ModelFacts& facts = facts_of(desc);
    const std::string_view wanted = given(name, "name");
    size_t& found = result(index, "index");
    std::string names;
    for (size_t i = 0; i < port_count(facts, side); ++i) {
      const Port port = port_at(facts, side, i);
      if (port.name == wanted) {
        found = i;
        return;
      }
      names += (i == 0 ? "" : ", ") + port.name;
    }
    fail(Code::kInvalidParam, "there is no {} named {}; there are {}", side == Side::kInput ? "input" : "output",
         wanted, names.empty() ? "none" : names);
  });
}

/// "[5]conv1[5]relu1": length and name of each node that an operator stands for.
std::string origins_of(const graph::Function& function, std::string_view name) {
  const graph::NodeId id = function.find(name);
  if (id < 0) fail(Code::kInvalidParam, "the model has no operator named {}", name);
  std::string out;
  for (const graph::Node* origin : graph::origins(function[id])) {
    const std::string& known = origin->client_name.empty() ? origin->name : origin->client_name;
    out += fmt::format("[{}]{}", known.size(), known);
  }
  return out;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclmdlDesc* aclmdlCreateDesc(void) {
  return call_or<aclmdlDesc*>("aclmdlCreateDesc", nullptr, [] { return DescriptionPool<aclmdlDesc>::create(); });
}

aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) {
  return call("aclmdlDestroyDesc", [&] {
    described(modelDesc, "modelDesc");
    DescriptionPool<aclmdlDesc>::destroy(modelDesc);
  });
}

aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId) {
  return call("aclmdlGetDesc", [&] {
    aclmdlDesc& desc = described(modelDesc, "modelDesc");
    const std::shared_ptr<LoadedModel> model = find_model(modelId);
    fill(desc, model->facts(), model);
  });
}

aclError aclmdlGetDescFromFile(aclmdlDesc* modelDesc, const char* modelPath) {
  return call("aclmdlGetDescFromFile", [&] {
    aclmdlDesc& desc = described(modelDesc, "modelDesc");
    fill(desc, facts_of(open_model(modelPath)), nullptr);
  });
}

aclError aclmdlGetDescFromMem(aclmdlDesc* modelDesc, const void* model, size_t modelSize) {
  return call("aclmdlGetDescFromMem", [&] {
    aclmdlDesc& desc = described(modelDesc, "modelDesc");
    fill(desc, facts_of(copy_model(model, modelSize)), nullptr);
  });
}

size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc) {
  return call_or<size_t>("aclmdlGetNumInputs", 0, [&] { return facts_of(modelDesc).inputs(); });
}
size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc) {
  return call_or<size_t>("aclmdlGetNumOutputs", 0, [&] { return facts_of(modelDesc).model.outputs.size(); });
}
size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return call_or<size_t>("aclmdlGetInputSizeByIndex", 0,
                         [&] { return largest_bytes(facts_of(modelDesc), Side::kInput, index); });
}
size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return call_or<size_t>("aclmdlGetOutputSizeByIndex", 0,
                         [&] { return largest_bytes(facts_of(modelDesc), Side::kOutput, index); });
}
const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return name_at("aclmdlGetInputNameByIndex", modelDesc, Side::kInput, index);
}
const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return name_at("aclmdlGetOutputNameByIndex", modelDesc, Side::kOutput, index);
}
aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return ask_port("aclmdlGetInputFormat", modelDesc, Side::kInput, index, ACL_FORMAT_UNDEFINED,
                  [](const Port& port) { return static_cast<aclFormat>(port.format); });
}
aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return ask_port("aclmdlGetOutputFormat", modelDesc, Side::kOutput, index, ACL_FORMAT_UNDEFINED,
                  [](const Port& port) { return static_cast<aclFormat>(port.format); });
}
aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return ask_port("aclmdlGetInputDataType", modelDesc, Side::kInput, index, ACL_DT_UNDEFINED,
                  [](const Port& port) { return static_cast<aclDataType>(port.dtype); });
}
aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return ask_port("aclmdlGetOutputDataType", modelDesc, Side::kOutput, index, ACL_DT_UNDEFINED,
                  [](const Port& port) { return static_cast<aclDataType>(port.dtype); });
}
aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return index_of("aclmdlGetInputIndexByName", modelDesc, Side::kInput, name, index);
}
aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return index_of("aclmdlGetOutputIndexByName", modelDesc, Side::kOutput, name, index);
}
aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return tell_dims("aclmdlGetInputDims", modelDesc, Side::kInput, index, dims, false);
}
aclError aclmdlGetInputDimsV2(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return tell_dims("aclmdlGetInputDimsV2", modelDesc, Side::kInput, index, dims, false);
}
aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return tell_dims("aclmdlGetOutputDims", modelDesc, Side::kOutput, index, dims, false);
}
aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return tell_dims("aclmdlGetCurOutputDims", modelDesc, Side::kOutput, index, dims, true);
}

aclError aclmdlGetInputDimsRange(const aclmdlDesc* modelDesc, size_t index, aclmdlIODimsRange* dimsRange) {
  return call("aclmdlGetInputDimsRange", [&] {
    const Port port = port_at(facts_of(modelDesc), Side::kInput, index);
    aclmdlIODimsRange& to = result(dimsRange, "dimsRange");
    to.rangeCount = port.shape.size();
    for (size_t i = 0; i < port.shape.size(); ++i) {
      const bool known = port.shape[i] >= 0, ranged = i < port.range.size();
      to.range[i][0] = known ? port.shape[i] : ranged ? port.range[i].first : 0;
      to.range[i][1] = known ? port.shape[i] : ranged ? port.range[i].second : -1;
    }
  });
}

const char* aclmdlGetTensorRealName(const aclmdlDesc* modelDesc, const char* name) {
  return call_or<const char*>("aclmdlGetTensorRealName", nullptr, [&]() -> const char* {
    const ModelFacts& facts = facts_of(modelDesc);
    const std::string_view wanted = given(name, "name");
    if (const auto at = modelDesc->real_names.find(std::string(wanted)); at != modelDesc->real_names.end())
      return at->second.c_str();
    for (const auto* ports : {&facts.model.inputs, &facts.model.outputs})
      for (const Port& port : *ports)
        if (port.name == wanted) return port.name.c_str();
    fail(Code::kInvalidParam, "the model has no tensor named {}", wanted);
  });
}

const char* aclmdlGetOpAttr(aclmdlDesc* modelDesc, const char* opName, const char* attr) {
  return call_or<const char*>("aclmdlGetOpAttr", nullptr, [&] {
    facts_of(modelDesc);
    const std::string name = given(opName, "opName");
    if (std::string_view(given(attr, "attr")) != ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES)
      fail(Code::kInvalidParam, "attr is {}; only {} is known", attr, ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES);
    const auto model = modelDesc->loaded.lock();
    if (!model)
      fail(Code::kInvalidParam, "the model is not loaded, or was unloaded; operators are known of loaded models");
    std::string& kept = modelDesc->attributes[name];
    if (kept.empty()) kept = origins_of(model->executable().function(), name);
    return kept.c_str();
  });
}
