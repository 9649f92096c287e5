// SPDX-License-Identifier: Apache-2.0
#include "graph/convert/gear.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "graph/convert/refusal.h"
#include "graph/ir/value_type.h"

namespace npu::graph::convert {
namespace {

using model::Gear;
using model::GearKind;
using model::Port;

constexpr int32_t kNchw = 0, kNhwc = 1;

bool dynamic(const Port& port) { return std::ranges::find(port.shape, kUnknownDim) != port.shape.end(); }

void check_some_dynamic(const std::vector<Port>& inputs, const char* flag) {
  if (std::ranges::any_of(inputs, dynamic)) return;
  refuse("E10040", "--{} is given and no input has a size of -1; write it in --input_shape, as in data:-1,3,224,224",
         flag);
}

/// The first size of dynamic inputs, which have no other -1.
Dims with_batch(const Port& port, int64_t batch) {
  Dims out = port.shape;
  if (!dynamic(port)) return out;
  for (size_t i = 1; i < out.size(); ++i)
    if (out[i] == kUnknownDim)
      refuse("E10018", "input {} has the shape {}; with --dynamic_batch_size only the first size may be -1", port.name,
             port.shape);
  out[0] = batch;
  return out;
}

Dims with_image(const Port& port, const std::vector<int64_t>& size) {
  Dims out = port.shape;
  if (!dynamic(port)) return out;
  const int32_t format = port.format;
  if (format != kNchw && format != kNhwc)
    refuse("E10001", "--dynamic_image_size needs --input_format=NCHW or NHWC, which tells where height and width are");
  const size_t height = format == kNchw ? 2 : 1;
  bool fits = out.size() == 4;
  for (size_t i = 0; fits && i < out.size(); ++i) fits = (out[i] == kUnknownDim) == (i == height || i == height + 1);
  if (!fits)
    refuse("E10019", "input {} has the shape {}; with --dynamic_image_size height and width are -1, and no other size",
           port.name, port.shape);
  out[height] = size[0];
  out[height + 1] = size[1];
  return out;
}

std::vector<Dims> with_dims(const std::vector<Port>& inputs, const std::vector<int64_t>& sizes) {
  std::vector<Dims> out;
  size_t next = 0;
  for (const Port& port : inputs) {
    out.push_back(port.shape);
    for (int64_t& size : out.back()) {
      if (size != kUnknownDim) continue;
      if (next < sizes.size()) size = sizes[next];
      ++next;
    }
  }
  if (next != sizes.size())
    refuse("E10045", "--dynamic_dims: the gear {} has {} sizes, and --input_shape has {} of -1", fmt::join(sizes, ","),
           sizes.size(), next);
  return out;
}

std::vector<Dims> shapes_in(const Request& request, const std::vector<Port>& inputs, const std::vector<int64_t>& gear) {
  if (request.gear_kind == GearKind::kDims) return with_dims(inputs, gear);
  std::vector<Dims> out;
  for (const Port& port : inputs)
    out.push_back(request.gear_kind == GearKind::kBatch ? with_batch(port, gear[0]) : with_image(port, gear));
  return out;
}

}  // namespace

std::vector<Gear> make_gears(const Request& request, const std::vector<Port>& inputs) {
  if (request.gear_kind == GearKind::kNone) return {};
  check_some_dynamic(inputs, request.gear_kind == GearKind::kBatch   ? "dynamic_batch_size"
                             : request.gear_kind == GearKind::kImage ? "dynamic_image_size"
                                                                     : "dynamic_dims");
  std::vector<Gear> out;
  for (const auto& values : request.gears) out.push_back({values, shapes_in(request, inputs, values), {}});
  return out;
}

}  // namespace npu::graph::convert
