// SPDX-License-Identifier: Apache-2.0
#include "acl/model/job.h"

#include <algorithm>
#include <cstring>

#include "acl/model/failed_task.h"
#include "acl/model/port.h"
#include "base/error.h"
#include "device/memory/memory.h"
#include "graph/model/code.h"
#include "ops/runner/call.h"

namespace npu::acl {
namespace {

using graph::kUnknownDim;
using graph::model::Port;

void check_count(size_t given, size_t wanted, Code code, const char* what, const char* asked_by, bool gears) {
  if (given == wanted) return;
  fail(code, "the data set of {} has {} buffers and the model {}{}", what, given, wanted,
       gears ? fmt::format(", the last of which is {}: add a buffer for it and choose a gear with aclmdlSetDynamic…",
                           graph::model::kGearInput)
             : fmt::format("; give one for each, {} tells how many", asked_by));
}

size_t chosen_gear(uint32_t id, const ModelFacts& facts, const aclmdlDataset& input) {
  if (!facts.has_gears()) return 0;
  if (!input.gear || input.gear->first != id)
    fail(graph::model::kWrongGear,
         "no size was chosen for this run; call aclmdlSetDynamicBatchSize, aclmdlSetDynamicHWSize or "
         "aclmdlSetInputDynamicDims with the data set of the inputs before");
  return input.gear->second;
}

/// The size along the one axis that is not known, by the bytes that are there.
Dims filled(const Port& port, size_t bytes) {
  Dims shape = port.shape, others = shape;
  size_t unknown = shape.size(), count = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) unknown = i, ++count, others[i] = 1;
  }
  if (count == 0) return shape;
  const int64_t known = graph::model::bytes_of(port.dtype, others);
  if (count > 1 || known == 0 || bytes == 0 || bytes % static_cast<size_t>(known) != 0)
    fail(graph::model::kWrongShape,
         "input {} has the shape {} and a buffer of {} bytes: tell its sizes with aclmdlSetDatasetTensorDesc",
         port.name, port.shape, bytes);
  shape[unknown] = static_cast<int64_t>(bytes) / known;
  return shape;
}

void check_shape(const Port& port, const Dims& shape) {
  bool fits = shape.size() == port.shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] >= 0 && (port.shape[i] < 0 || port.shape[i] == shape[i]);
    if (fits && port.shape[i] < 0 && i < port.range.size())
      fits = shape[i] >= port.range[i].first && (port.range[i].second < 0 || shape[i] <= port.range[i].second);
  }
  if (fits) return;
  std::string range;
  for (const auto& [least, most] : port.range) range += fmt::format("{}{}~{}", range.empty() ? "" : ", ", least, most);
  fail(graph::model::kWrongShape, "input {} is given as {}; the model takes {}{}", port.name, shape, port.shape,
       range.empty() ? "" : " within " + range);
}

/// Checks that the client's memory holds so many bytes, and gives where kernels reach it.
void* reached(const aclDataBuffer& buffer, size_t bytes, int device, const char* what, const Port& port) {
  if (buffer.data == nullptr && bytes > 0)
    fail(graph::model::kWrongInputAddress, "the buffer of {} {} is null; give device memory of {} bytes", what,
         port.name, bytes);
  if (buffer.size < bytes)
    fail(graph::model::kWrongInputLength, "the buffer of {} {} has {} bytes; {} are needed", what, port.name,
         buffer.size, bytes);
  device::check_live(buffer.data, bytes, device, what);
  return device::resolve(buffer.data, bytes);
}

aclTensorDesc described_as(const Port& port, const Dims& shape) {
  aclTensorDesc desc;
  desc.dtype = port.dtype;
  desc.dims.assign(shape.begin(), shape.end());
  desc.format = port.format;
  desc.name = port.name;
  return desc;
}

void copy(const Tensor& from, const Tensor& to) {
  if (from.contiguous())
    std::memcpy(to.bytes(), from.bytes(), static_cast<size_t>(bytes_of(to)));
  else
    ops::Call("copy").set("self", ops::Operand{from, {}}).set("out", to).run();
}

}  // namespace

Job::Job(uint32_t model, const aclmdlDataset& input, aclmdlDataset& output, NoMemory no_memory)
    : use_(std::make_unique<LoadedModel::Use>(find_model(model))) {
  use_->model().check_context();
  check_count(input.entries.size(), facts().inputs(), Code{100017}, "inputs", "aclmdlGetNumInputs",
              facts().has_gears());
  check_count(output.entries.size(), facts().model.outputs.size(), Code{100018}, "outputs", "aclmdlGetNumOutputs",
              false);
  gear_ = chosen_gear(model, facts(), input);
  arguments_.reserve(facts().model.inputs.size());
  for (size_t i = 0; i < facts().model.inputs.size(); ++i) add_input(input, i);
  places_.reserve(output.entries.size());
  outputs_.reserve(output.entries.size());
  for (size_t i = 0; i < output.entries.size(); ++i) {
    outputs_.push_back({output.entries[i], nullptr, 0});
    add_output(*output.entries[i], i, no_memory);
  }
}

Dims Job::shape_of(const DatasetEntry& entry, size_t index) const {
  const Port& port = facts().model.inputs[index];
  if (facts().has_gears()) return shape_in(facts(), Side::kInput, index, gear_);
  if (entry.desc == nullptr) return filled(port, described(entry.buffer, "a buffer of the inputs").size);
  const aclTensorDesc& desc = described(entry.desc, "the description of an input");
  Dims shape(desc.dims);
  check_shape(port, shape);
  return shape;
}

void Job::add_input(const aclmdlDataset& input, size_t index) {
  const Port& port = facts().model.inputs[index];
  const DatasetEntry& entry = *input.entries[index];
  const aclDataBuffer& buffer = described(entry.buffer, "a buffer of the inputs");
  const Dims shape = shape_of(entry, index);
  const auto bytes = static_cast<size_t>(graph::model::bytes_of(port.dtype, shape));
  graph::Value value;
  value.tensor = make_tensor(reached(buffer, bytes, device(), "input", port), port.dtype, shape);
  arguments_.push_back(std::move(value));
}

void Job::add_output(const DatasetEntry& entry, size_t index, NoMemory no_memory) {
  const Port& port = facts().model.outputs[index];
  const aclDataBuffer& buffer = described(entry.buffer, "a buffer of the outputs");
  const Dims& shape = shape_in(facts(), Side::kOutput, index, gear_);
  const auto bytes = static_cast<size_t>(graph::model::bytes_of(port.dtype, shape));
  places_.emplace_back();
  if (buffer.data == nullptr && no_memory == NoMemory::kAllocate) return;
  const bool known = std::find(shape.begin(), shape.end(), kUnknownDim) == shape.end();
  void* data = reached(buffer, known ? bytes : std::max<size_t>(buffer.size, 1), device(), "output", port);
  outputs_.back().data = data;
  outputs_.back().bytes = buffer.size;
  if (known && bytes > 0) places_.back() = make_tensor(data, port.dtype, shape);
}

void Job::give(const graph::Value& result, size_t index) const {
  const Port& port = facts().model.outputs[index];
  const Output& output = outputs_[index];
  if (result.object || result.tensor.dtype != port.dtype)
    fail(Code::kInternal, "output {} came as {} in place of {}", port.name, result.tensor, port.dtype);
  const auto bytes = static_cast<size_t>(bytes_of(result.tensor));
  output.entry->describe(described_as(port, result.tensor.shape));
  if (result.tensor.data == output.data || bytes == 0) return;
  if (output.data == nullptr) {
    void* block = device::allocate(device(), bytes);
    copy(result.tensor, make_tensor(device::resolve(block, bytes), port.dtype, result.tensor.shape));
    described(output.entry->buffer, "a buffer of the outputs") = {block, bytes};
    return;
  }
  if (output.bytes < bytes)
    fail(graph::model::kWrongInputLength, "the buffer of output {} has {} bytes, and it became {} of {} bytes",
         port.name, output.bytes, result.tensor, bytes);
  copy(result.tensor, make_tensor(output.data, port.dtype, result.tensor.shape));
}

void Job::run() const {
  graph::Executable& model = use_->model().executable();
  try {
    const std::vector<graph::Value> results = model.run(arguments_, places_);
    for (size_t i = 0; i < results.size(); ++i) give(results[i], i);
  } catch (const graph::NodeError& error) {
    note_failure(model.function(), error);
    throw;
  }
}

}  // namespace npu::acl
