// SPDX-License-Identifier: Apache-2.0
// Which inputs of a model have AIPP in front, and the parameters that come with a run.
#include <cstring>
#include <optional>
#include <string>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/model/aipp.h"
#include "acl/model/dataset.h"
#include "acl/model/port.h"
#include "base/json.h"
#include "device/memory/memory.h"
#include "graph/model/aipp.h"
#include "graph/model/code.h"

namespace npu::acl {
namespace {

using graph::model::Port;

bool is_dynamic(const Port& port) {
  return !port.aipp.empty() && graph::model::aipp_from_json(Json::parse(port.aipp)).dynamic();
}

/// "…", "…_1": the inputs of parameters stand in the order of those they are for.
bool brings_parameters(const Port& port) { return port.name.starts_with(graph::model::kAippInput); }

/// The n-th input of which `is` holds.
template <class Is>
std::optional<size_t> nth(const ModelFacts& facts, size_t n, Is&& is) {
  for (size_t i = 0; i < facts.model.inputs.size(); ++i)
    if (is(facts.model.inputs[i]) && n-- == 0) return i;
  return {};
}

template <class Is>
size_t count_before(const ModelFacts& facts, size_t index, Is&& is) {
  size_t count = 0;
  for (size_t i = 0; i < index; ++i) count += is(facts.model.inputs[i]) ? 1 : 0;
  return count;
}

/// The input that brings the parameters of the pictures at `index`.
std::optional<size_t> parameters_of(const ModelFacts& facts, size_t index) {
  return nth(facts, count_before(facts, index, is_dynamic), brings_parameters);
}

aclmdlInputAippType type_of(const ModelFacts& facts, size_t index, size_t& attached) {
  attached = ACL_INVALID_NODE_INDEX;
  const Port port = port_at(facts, Side::kInput, index);
  if (chooses_gear(facts, index)) return ACL_DATA_WITHOUT_AIPP;
  if (brings_parameters(port)) {
    attached = nth(facts, count_before(facts, index, brings_parameters), is_dynamic).value_or(ACL_INVALID_NODE_INDEX);
    return ACL_DYNAMIC_AIPP_NODE;
  }
  if (port.aipp.empty()) return ACL_DATA_WITHOUT_AIPP;
  if (!is_dynamic(port)) return ACL_DATA_WITH_STATIC_AIPP;
  attached = parameters_of(facts, index).value_or(ACL_INVALID_NODE_INDEX);
  return ACL_DATA_WITH_DYNAMIC_AIPP;
}

void write_parameters(uint32_t id, aclmdlDataset* dataset, size_t index, const aclmdlAIPP* parameters,
                      aclmdlInputAippType wanted) {
  const std::shared_ptr<LoadedModel> model = find_model(id);
  const aclmdlDataset& live = described(dataset, "dataset");
  size_t attached = 0;
  if (type_of(*model->facts(), index, attached) != wanted)
    fail(graph::model::kNoAipp, "index is {}, which is no input {} dynamic AIPP; aclmdlGetAippType tells which are",
         index, wanted == ACL_DYNAMIC_AIPP_NODE ? "of the parameters of" : "with");
  const size_t at = wanted == ACL_DYNAMIC_AIPP_NODE ? index : attached;
  if (at >= live.entries.size())
    fail(Code::kInvalidParam, "the data set has {} buffers; the parameters are input {}", live.entries.size(), at);
  const std::string block = described(parameters, "aippParmsSet").block();
  const aclDataBuffer& buffer = described(live.entries[at]->buffer, "the buffer of the parameters");
  if (buffer.data == nullptr || buffer.size < block.size())
    fail(graph::model::kWrongInputLength, "the buffer of the parameters has {} bytes; they are {}",
         buffer.data == nullptr ? 0 : buffer.size, block.size());
  device::check_live(buffer.data, block.size(), model->device(), "the buffer of the parameters");
  std::memcpy(device::resolve(buffer.data, block.size()), block.data(), block.size());
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType* type,
                           size_t* dynamicAttachedDataIndex) {
  return call("aclmdlGetAippType", [&] {
    const std::shared_ptr<LoadedModel> model = find_model(modelId);
    given(dynamicAttachedDataIndex, "dynamicAttachedDataIndex");
    result(type, "type") = type_of(*model->facts(), index, *dynamicAttachedDataIndex);
  });
}

aclError aclmdlSetInputAIPP(uint32_t modelId, aclmdlDataset* dataset, size_t index, const aclmdlAIPP* aippParmsSet) {
  return call("aclmdlSetInputAIPP",
              [&] { write_parameters(modelId, dataset, index, aippParmsSet, ACL_DYNAMIC_AIPP_NODE); });
}

aclError aclmdlSetAIPPByInputIndex(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   const aclmdlAIPP* aippParmsSet) {
  return call("aclmdlSetAIPPByInputIndex",
              [&] { write_parameters(modelId, dataset, index, aippParmsSet, ACL_DATA_WITH_DYNAMIC_AIPP); });
}
