// SPDX-License-Identifier: Apache-2.0
#include "graph/node/layout.h"

#include <algorithm>

namespace npu::graph {

bool channels_last(const Lowering& l) {
  const auto format = l.attributes().get_or<std::string>("data_format", "NHWC");
  if (format == "NHWC" || format == "NDHWC") return true;
  if (format != "NCHW" && format != "NCDHW") l.decline("data_format is " + format);
  return false;
}

Planned channels_first(const Planned& images, bool last) {
  if (!last) return images;
  std::vector<int64_t> order{0, static_cast<int64_t>(images.shape().size()) - 1};
  for (int64_t d = 1; d < order[1]; ++d) order.push_back(d);
  return permuted(images, order);
}

Planned in_order_of_memory(const Planned& images) {
  std::vector<int64_t> order{0};
  for (size_t d = 2; d < images.shape().size(); ++d) order.push_back(static_cast<int64_t>(d));
  order.push_back(1);
  return permuted(images, order);
}

bool lies_channels_last(const Planned& images) {
  return images.shape().size() >= 4 && !images.dynamic && !images.view.contiguous() &&
         in_order_of_memory(images).view.contiguous();
}

Planned make_images(Lowering& l, size_t i, DType dtype, const Dims& shape) {
  const Planned out = channels_first(l.make(i, dtype, in_format(shape, true)), true);
  l.alias(i, out);
  return out;
}

Dims in_format(const Dims& channels_first, bool last) {
  Dims shape = channels_first;
  if (!last) return shape;
  shape.erase(1);
  shape.push_back(channels_first[1]);
  return shape;
}

Planned along_channels(const Planned& bias, const Dims& shape, bool last) {
  require(shape.size() >= 2, "value is {}; it needs at least 2 dimensions", shape);
  const size_t channel = last ? shape.size() - 1 : 1;
  require(bias.shape().size() == 1 && bias.shape()[0] == shape[channel],
          "bias is {}, value is {}: it needs one number for each channel", bias.shape(), shape);
  Dims strides(shape.size(), 0);
  strides[channel] = bias.view.strides[0];
  return restrided(bias, shape, strides);
}

std::vector<int64_t> spatial(const Lowering& l, std::string_view name, const std::vector<int64_t>& per_axis,
                             bool last) {
  const size_t rank = per_axis.size(), channel = last ? rank - 1 : 1;
  require(rank >= 3, "{} has {} values; it needs one for each axis", name, rank);
  if (per_axis[0] != 1 || per_axis[channel] != 1) l.decline(fmt::format("{} of batch or channels is not 1", name));
  const auto first = per_axis.begin() + (last ? 1 : 2);
  return {first, first + static_cast<int64_t>(rank) - 2};
}

std::vector<WindowAxis> window_axes(const Lowering& l, std::span<const int64_t> in, std::span<const int64_t> reach,
                                    std::span<const int64_t> stride, bool last) {
  const auto padding = l.attributes().get_or<std::string>("padding", "VALID");
  const auto given = l.attributes().get_or<std::vector<int64_t>>("explicit_paddings", {});
  std::vector<WindowAxis> axes(in.size());
  for (size_t d = 0; d < in.size(); ++d) {
    WindowAxis& axis = axes[d];
    require(stride[d] > 0, "a stride is {}; strides are at least 1", stride[d]);
    if (padding == "SAME" || padding == "SAME_LOWER") {
      axis.out = (in[d] + stride[d] - 1) / stride[d];
      const int64_t beyond = std::max<int64_t>((axis.out - 1) * stride[d] + reach[d] - in[d], 0);
      axis.before = padding == "SAME" ? beyond / 2 : beyond - beyond / 2, axis.after = beyond - axis.before;
      continue;
    }
    if (padding == "EXPLICIT") {
      const size_t at = 2 * (d + (last ? 1 : 2));
      require(given.size() > at + 1, "explicit_paddings has {} values; it needs two for each axis", given.size());
      axis.before = given[at], axis.after = given[at + 1];
    }
    const int64_t room = in[d] + axis.before + axis.after - reach[d];
    require(room >= -stride[d], "a window of {} does not fit an axis of {}: the output size would be negative",
            reach[d], in[d]);
    axis.out = (room + stride[d]) / stride[d];
  }
  return axes;
}

}  // namespace npu::graph
