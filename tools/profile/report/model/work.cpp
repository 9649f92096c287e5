// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/model/work.h"

#include <algorithm>
#include <array>

namespace npu::profile {
namespace {

using device::trace::Unit;

/// They read of each input no more than they write: a table's rows, a tensor's part.
constexpr std::array<std::string_view, 4> kTakeParts{"Gather", "Slice", "Embedding", "IndexSelect"};
constexpr std::array<std::string_view, 2> kAttention{"FlashAttention", "FusedInferAttention"};

template <size_t size>
bool has_any(std::string_view type, const std::array<std::string_view, size>& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return type.find(part) != std::string_view::npos; });
}

/// Each element is touched once: of the largest tensor, or of all that are written.
void add_elements(const Tensors& inputs, const Tensors& outputs, Work& work) {
  double written = 0;
  for (const Listed& one : outputs) written += one.count();
  work.vector = written;
  if (!outputs.empty()) work.vector_width = width_of(outputs[0].type);
  for (const Listed& one : inputs)
    if (one.count() > work.vector) work.vector = one.count(), work.vector_width = width_of(one.type);
}

/// A gradient of such an operator writes all, and is none of them.
double bytes_of_parts(const Tensors& inputs, const Tensors& outputs) {
  double written = 0, read = 0;
  for (const Listed& one : outputs) written += one.count() * width_of(one.type);
  for (const Listed& one : inputs) read += std::min(written, one.count() * width_of(one.type));
  return written + read;
}

/// Of what is multiplied: of a gradient the first input may be a list of sizes.
std::string_view cube_type_of(const Tensors& inputs) {
  for (const Listed& one : inputs)
    if (one.rank() > 1) return one.type;
  return inputs.empty() ? std::string_view() : inputs[0].type;
}

void add_cube(std::string_view type, const Tensors& inputs, const Tensors& outputs, Work& work) {
  const bool convolution = type.find("Conv") != std::string_view::npos;
  const auto found = convolution ? convolution_operations(type, inputs, outputs) : product_operations(inputs, outputs);
  work.told = found.has_value();
  work.cube = found.value_or(0);
}

void add_attention(std::string_view type, const Tensors& inputs, const Tensors& outputs, Work& work) {
  const auto found = has_any(type, kAttention) ? attention_operations(type, inputs, outputs) : std::nullopt;
  work.told = found.has_value();
  if (found) work.cube = found->cube, work.vector = found->vector;
}

}  // namespace

Work work_of(const Trace& trace, const TaskRecord& task, double ranks) {
  const std::string_view type = trace.text(task.type);
  const Tensors inputs = listed(trace.text(task.inputs)), outputs = listed(trace.text(task.outputs));
  Work work;
  work.unit = task.unit, work.bytes = static_cast<double>(task.bytes);
  work.cube_type = cube_type_of(inputs);
  switch (task.unit) {
    case Unit::kCube: add_cube(type, inputs, outputs, work); break;
    case Unit::kMixed: add_attention(type, inputs, outputs, work); break;
    case Unit::kCollective: add_exchange(type, inputs, outputs, work.bytes, ranks, work); break;
    default: add_elements(inputs, outputs, work);
  }
  const bool takes_parts = has_any(type, kTakeParts) && type.find("Grad") == std::string_view::npos;
  if (task.unit == Unit::kVector && takes_parts && !outputs.empty()) work.bytes = bytes_of_parts(inputs, outputs);
  return work;
}

}  // namespace npu::profile
