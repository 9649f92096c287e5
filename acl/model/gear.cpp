// SPDX-License-Identifier: Apache-2.0
// The gears of a model: which there are, and the choice of one.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/model/dataset.h"
#include "acl/model/description.h"
#include "acl/model/port.h"
#include "device/memory/memory.h"
#include "graph/model/code.h"

namespace npu::acl {
namespace {

using graph::model::Gear;
using graph::model::GearKind;
using graph::model::Model;

const char* option_of(GearKind kind) {
  switch (kind) {
    case GearKind::kBatch: return "--dynamic_batch_size";
    case GearKind::kImage: return "--dynamic_image_size";
    default: return "--dynamic_dims";
  }
}

const Model& model_of(const aclmdlDesc* desc) {
  const aclmdlDesc& live = described(desc, "modelDesc");
  if (!live.facts) fail(Code::kInvalidParam, "modelDesc is empty; fill it with aclmdlGetDesc");
  return live.facts->model;
}

/// The gears of this kind; none for a model of another.
const std::vector<Gear>& gears_of(const Model& model, GearKind kind) {
  static const std::vector<Gear> none;
  return model.gear_kind == kind ? model.gears : none;
}

/// All sizes of a gear's inputs one behind the other.
std::vector<int64_t> flat(const Gear& gear) {
  std::vector<int64_t> out;
  for (const Dims& shape : gear.inputs) out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

void check_room(size_t count, size_t room, const char* what) {
  if (count > room) fail(Code::kInvalidParam, "the model has {} {}; the structure has room for {}", count, what, room);
}

std::string named(const std::vector<int64_t>& values) { return fmt::format("{}", fmt::join(values, ",")); }

void check_kind(const Model& model, GearKind kind) {
  if (model.gear_kind == kind) return;
  fail(graph::model::kNotDynamic, "the model was converted without {}{}", option_of(kind),
       model.gear_kind == GearKind::kNone ? "; it has no gears"
                                          : fmt::format(" and has {}", option_of(model.gear_kind)));
}

/// `values_of` tells by what a client names a gear.
template <class ValuesOf>
size_t find_gear(const Model& model, const std::vector<int64_t>& values, ValuesOf&& values_of) {
  std::string all;
  for (size_t i = 0; i < model.gears.size(); ++i) {
    const std::vector<int64_t> one = values_of(model.gears[i]);
    if (one == values) return i;
    all += (i == 0 ? "" : "; ") + named(one);
  }
  fail(graph::model::kWrongGear, "{} is no gear of the model, which was converted with {}: {}", named(values),
       option_of(model.gear_kind), all);
}

/// What the chosen sizes are to a client that reads them: numbers in the input they are chosen through.
void write_values(const LoadedModel& model, const DatasetEntry& entry, const std::vector<int64_t>& values) {
  const aclDataBuffer& buffer = described(entry.buffer, "the buffer of the gear");
  const size_t bytes = values.size() * sizeof(int64_t);
  if (buffer.data == nullptr || buffer.size < bytes)
    fail(graph::model::kWrongInputLength, "the buffer of input {} has {} bytes; it takes {}", graph::model::kGearInput,
         buffer.data == nullptr ? 0 : buffer.size, bytes);
  device::check_live(buffer.data, bytes, model.device(), "the buffer of the gear");
  std::memcpy(device::resolve(buffer.data, bytes), values.data(), bytes);
}

template <class ValuesOf>
void choose(uint32_t id, aclmdlDataset* dataset, size_t index, GearKind kind, const std::vector<int64_t>& values,
            ValuesOf&& values_of) {
  const std::shared_ptr<LoadedModel> model = find_model(id);
  aclmdlDataset& live = described(dataset, "dataset");
  ModelFacts& facts = *model->facts();
  check_kind(facts.model, kind);
  if (!chooses_gear(facts, index))
    fail(Code::kInvalidParam, "index is {}; the input {} is {}: aclmdlGetInputIndexByName tells it", index,
         graph::model::kGearInput, facts.model.inputs.size());
  if (index >= live.entries.size())
    fail(Code::kInvalidParam, "index is {}; the data set has {} buffers: add one for {}", index, live.entries.size(),
         graph::model::kGearInput);
  const size_t gear = find_gear(facts.model, values, values_of);
  write_values(*model, *live.entries[index], facts.model.gears[gear].values);
  live.gear = {id, gear};
  facts.gear = static_cast<int64_t>(gear);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  return call("aclmdlGetDynamicBatch", [&] {
    const auto& gears = gears_of(model_of(modelDesc), GearKind::kBatch);
    aclmdlBatch& to = result(batch, "batch");
    check_room(gears.size(), ACL_MAX_BATCH_NUM, "batch sizes");
    to.batchCount = gears.size();
    for (size_t i = 0; i < gears.size(); ++i) to.batch[i] = static_cast<uint64_t>(gears[i].values[0]);
  });
}

aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t, aclmdlHW* hw) {
  return call("aclmdlGetDynamicHW", [&] {
    const auto& gears = gears_of(model_of(modelDesc), GearKind::kImage);
    aclmdlHW& to = result(hw, "hw");
    check_room(gears.size(), ACL_MAX_HW_NUM, "image sizes");
    to.hwCount = gears.size();
    for (size_t i = 0; i < gears.size(); ++i)
      for (size_t axis = 0; axis < 2; ++axis) to.hw[i][axis] = static_cast<uint64_t>(gears[i].values[axis]);
  });
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t, size_t* gearCount) {
  return call("aclmdlGetInputDynamicGearCount",
              [&] { result(gearCount, "gearCount") = gears_of(model_of(modelDesc), GearKind::kDims).size(); });
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t, aclmdlIODims* dims, size_t gearCount) {
  return call("aclmdlGetInputDynamicDims", [&] {
    const auto& gears = gears_of(model_of(modelDesc), GearKind::kDims);
    given(dims, "dims");
    if (gearCount < gears.size())
      fail(Code::kInvalidParam, "gearCount is {}; the model has {} gears", gearCount, gears.size());
    for (size_t i = 0; i < gears.size(); ++i) {
      const std::vector<int64_t> sizes = flat(gears[i]);
      check_room(sizes.size(), ACL_MAX_DIM_CNT, "sizes");
      dims[i] = {};
      dims[i].dimCount = sizes.size();
      std::ranges::copy(sizes, dims[i].dims);
    }
  });
}

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t index, uint64_t batchSize) {
  return call("aclmdlSetDynamicBatchSize", [&] {
    choose(modelId, dataset, index, GearKind::kBatch, {static_cast<int64_t>(batchSize)},
           [](const Gear& gear) { return gear.values; });
  });
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset, size_t index, uint64_t height,
                                uint64_t width) {
  return call("aclmdlSetDynamicHWSize", [&] {
    choose(modelId, dataset, index, GearKind::kImage, {static_cast<int64_t>(height), static_cast<int64_t>(width)},
           [](const Gear& gear) { return gear.values; });
  });
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset, size_t index, const aclmdlIODims* dims) {
  return call("aclmdlSetInputDynamicDims", [&] {
    const aclmdlIODims& wanted = *given(dims, "dims");
    check_room(wanted.dimCount, ACL_MAX_DIM_CNT, "sizes");
    choose(modelId, dataset, index, GearKind::kDims, {wanted.dims, wanted.dims + wanted.dimCount},
           [](const Gear& gear) { return flat(gear); });
  });
}
