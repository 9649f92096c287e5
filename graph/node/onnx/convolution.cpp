// SPDX-License-Identifier: Apache-2.0
#include "graph/node/onnx/convolution.h"

#include <algorithm>

namespace npu::graph::onnx {
namespace {

std::span<const int64_t> spatial_of(const Dims& shape) { return {shape.data() + 2, shape.size() - 2}; }

void check_ranks(const Dims& image, const Dims& weight) {
  require(image.size() == weight.size() && image.size() >= 3 && image.size() <= 5,
          "the images are {}, the weight is {}; both need batch, channels and 1 to 3 spatial axes", image, weight);
}

void check_kernel(const Lowering& l, const Dims& weight) {
  const auto given = list_attribute(l, "kernel_shape");
  require(given.empty() || std::ranges::equal(given, spatial_of(weight)),
          "kernel_shape is {}, the weight is {}: they do not agree", Dims(given), weight);
}

void conv(Lowering& l) {
  const Planned image = l.input(at(l, 0)), weight = l.input(at(l, 1));
  const Windows w = convolution_windows(l, image.shape(), weight.shape());
  const Planned out = l.make(0, image.dtype(), convolved_shape(image.shape(), weight.shape(), w));
  if (out.view.count() == 0) return;
  const Planned bias = has(l, 2) ? l.input(at(l, 2)) : Planned{};
  convolve(l, image, weight, has(l, 2) ? &bias : nullptr, w, out);
}

/// A convolution turned round: padding takes away from what the windows reach, output_padding adds at the end.
struct Turned {
  std::vector<int64_t> stride, dilation, padding, more;
  Dims out;
};

/// Pads for an output of `size`; what is larger than all windows reach is added at the end.
void fit(Turned& t, int64_t reached, int64_t size, bool upper) {
  const int64_t over = reached + t.more.back() - size;
  if (over < 0) t.more.back() -= over;
  const int64_t pads = std::max<int64_t>(over, 0), less = pads / 2;
  const int64_t before = upper ? less : pads - less;
  t.padding.insert(t.padding.end(), {before, pads - before});
  t.out.push_back(size);
}

Turned turned_of(const Lowering& l, const Dims& image, const Dims& weight, int64_t groups) {
  const size_t axes = image.size() - 2;
  const auto pads = per_axis(l, "pads", 2 * axes, 0), more = per_axis(l, "output_padding", axes, 0);
  auto sizes = list_attribute(l, "output_shape");
  if (sizes.size() == axes + 2) sizes.erase(sizes.begin(), sizes.begin() + 2);
  require(sizes.empty() || sizes.size() == axes, "output_shape has {} numbers for {} axes", sizes.size(), axes);
  const std::string mode = text_attribute(l, "auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  Turned t{per_axis(l, "strides", axes, 1), per_axis(l, "dilations", axes, 1), {}, {}, {image[0], weight[1] * groups}};
  for (size_t d = 0; d < axes; ++d) {
    const int64_t reached = (image[d + 2] - 1) * t.stride[d] + (weight[d + 2] - 1) * t.dilation[d] + 1;
    t.more.push_back(more[d]);
    if (!sizes.empty() || same) {
      // Where pads are odd, ONNX puts the larger half behind only for SAME_UPPER.
      fit(t, reached, sizes.empty() ? image[d + 2] * t.stride[d] : sizes[d], mode == "SAME_UPPER");
      continue;
    }
    const bool none = mode == "VALID";
    t.padding.insert(t.padding.end(), {none ? 0 : pads[d], none ? 0 : pads[axes + d]});
    t.out.push_back(reached + more[d] - t.padding[2 * d] - t.padding[2 * d + 1]);
  }
  return t;
}

void turned(Lowering& l) {
  const Planned image = l.input(at(l, 0)), weight = l.input(at(l, 1));
  check_ranks(image.shape(), weight.shape());
  check_kernel(l, weight.shape());
  const int64_t groups = int_attribute(l, "group", 1);
  require(groups > 0 && weight.shape()[0] == image.shape()[1] && weight.shape()[0] % groups == 0,
          "the images are {}, the weight is {}, group is {}: the channels do not fit", image.shape(), weight.shape(),
          groups);
  const Turned t = turned_of(l, image.shape(), weight.shape(), groups);
  for (const int64_t size : t.out) require(size >= 0, "an output of {} is asked for; make pads smaller", t.out);
  const Planned out = l.make(0, image.dtype(), t.out);
  if (out.view.count() == 0) return;
  OperatorCall call = l.call("convolution");
  call.set("input", image).set("weight", weight).set("out", out);
  if (has(l, 2)) call.set("bias", l.input(at(l, 2)));
  call.set("stride", t.stride).set("padding", t.padding).set("dilation", t.dilation);
  call.set("output_padding", t.more).set("transposed", true).set("groups", groups);
}

NPU_NODE("ai.onnx::Conv", conv);
NPU_NODE("ai.onnx::ConvTranspose", turned);

}  // namespace

Windows convolution_windows(const Lowering& l, const Dims& image, const Dims& weight) {
  check_ranks(image, weight);
  check_kernel(l, weight);
  const int64_t groups = int_attribute(l, "group", 1);
  require(groups > 0 && image[1] == weight[1] * groups && weight[0] % groups == 0,
          "the images are {}, the weight is {}, group is {}: the channels do not fit", image, weight, groups);
  return windows_of(l, spatial_of(image), {spatial_of(weight).begin(), spatial_of(weight).end()});
}

Dims convolved_shape(const Dims& image, const Dims& weight, const Windows& windows) {
  Dims out{image[0], weight[0]};
  for (const int64_t size : windows.out) out.push_back(size);
  return out;
}

void convolve(Lowering& l, const Planned& image, const Planned& weight, const Planned* bias, const Windows& windows,
              const Planned& out) {
  OperatorCall call = l.call("convolution");
  call.set("input", image).set("weight", weight).set("out", out);
  if (bias != nullptr) call.set("bias", *bias);
  call.set("kept_weight", weight.literal != nullptr);
  call.set("stride", windows.stride).set("padding", windows.padding()).set("dilation", windows.dilation);
  call.set("groups", int_attribute(l, "group", 1));
}

}  // namespace npu::graph::onnx
