// SPDX-License-Identifier: Apache-2.0
// Maximum and average over windows of 2 and 3 spatial axes, and their gradients.
#include "graph/node/layout.h"

namespace npu::graph {
namespace {

struct Pool {
  bool last = true;
  std::vector<int64_t> kernel, stride, padding;
  Dims out;  ///< [n, c, spatial…]
  int64_t spatial() const { return static_cast<int64_t>(kernel.size()); }
};

/// A list that newer kinds of node take as an input, older ones as an attribute.
std::vector<int64_t> sizes(const Lowering& l, std::string_view name, size_t input) {
  const auto* list = l.attributes().find<std::vector<int64_t>>(name);
  return list != nullptr ? *list : l.integers(input);
}

/// Windows over images [n, c, spatial…]; `input` is the position of an input with the window's sizes.
Pool describe(const Lowering& l, const Dims& images, size_t input = 0) {
  const bool last = channels_last(l);
  Pool p{last,
         spatial(l, "ksize", sizes(l, "ksize", input), last),
         spatial(l, "strides", sizes(l, "strides", input + 1), last),
         {},
         {}};
  require(images.size() == p.kernel.size() + 2, "its input has {} dimensions, ksize names {}", images.size(),
          p.kernel.size() + 2);
  p.out = {images[0], images[1]};
  for (const int64_t size : p.kernel) require(size > 0, "ksize holds {}; windows have at least one element", size);
  const auto axes = window_axes(l, std::span(images.data() + 2, p.kernel.size()), p.kernel, p.stride, last);
  for (size_t d = 0; d < axes.size(); ++d) {
    if (std::max(axes[d].before, axes[d].after) > p.kernel[d] / 2) l.decline("windows may lie outside of the image");
    p.out.push_back(axes[d].out);
    p.padding.insert(p.padding.end(), {axes[d].before, axes[d].after});
  }
  return p;
}

void check_dtype(const Lowering& l, DType dtype) {
  if (!is_floating(dtype)) l.decline(fmt::format("it pools {}", dtype));
}

OperatorCall& set_windows(OperatorCall& call, const Pool& p) {
  return call.set("kernel_size", p.kernel)
      .set("stride", p.stride)
      .set("padding", p.padding)
      .set("spatial", p.spatial());
}

/// The maxima into `out`; gives the position of each in its plane.
Planned maxima(Lowering& l, const Pool& p, const Planned& images, const Planned& out, DType positions) {
  const Planned place = channels_first(l.scratch(positions, in_format(p.out, p.last)), p.last);
  OperatorCall call = l.call("max_pool_indices");
  set_windows(call, p).set("self", images).set("out", out).set("indices", place);
  return place;
}

void max_pool(Lowering& l) {
  check_dtype(l, l.dtype(0));
  const Planned images = channels_first(l.input(0), channels_last(l));
  const Pool p = describe(l, images.shape(), 1);
  const Planned out = l.make(0, l.dtype(0), in_format(p.out, p.last));
  if (count_of(p.out) == 0) return;
  OperatorCall call = l.call("max_pool");
  set_windows(call, p).set("self", images).set("out", channels_first(out, p.last));
}

/// Inputs: the images, their maxima (found anew: the first of equal elements takes the gradient), the gradient.
void max_pool_grad(Lowering& l) {
  check_dtype(l, l.dtype(0));
  const bool last = channels_last(l);
  const Planned images = channels_first(l.input(0), last), gradient = channels_first(l.input(2), last);
  const Pool p = describe(l, images.shape(), 3);
  require(gradient.shape() == p.out, "the gradient is {} (batch, channels, spatial); the windows give {}",
          gradient.shape(), p.out);
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  if (count_of(p.out) == 0) return fill(l, out, Scalar(0));
  OperatorCall call = l.call("max_pool_backward");
  set_windows(call, p).set("grad_output", gradient).set("self", images);
  call.set("grad_input", channels_first(out, last));
}

/// position · channels + channel, and in front of it the image's share when the batch counts.
void flatten_positions(Lowering& l, const Planned& place, const Dims& images, bool with_batch) {
  const int64_t channels = images[1], plane = images[2] * images[3] * channels;
  const auto count_along = [&](size_t axis, int64_t step) {
    Planned row = l.scratch(place.dtype(), {images[axis]});
    l.call("arange")
        .set("start", Scalar(0))
        .set("end", Scalar(images[axis] * step))
        .set("step", Scalar(step))
        .set("out", row);
    row.view.shape = place.shape(), row.view.strides = Dims(4, 0);
    row.view.strides[axis] = 1;
    l.call("add").set("self", place).set("other", row).set("out", place);
  };
  l.call("mul").set("self", place).set("other", number(Scalar(channels))).set("out", place);
  count_along(1, 1);
  if (with_batch && plane > 0) count_along(0, plane);
}

void max_pool_with_argmax(Lowering& l) {
  check_dtype(l, l.dtype(0));
  const Planned images = channels_first(l.input(0), true);
  const Pool p = describe(l, images.shape());
  const Dims shape = in_format(p.out, true);
  const Planned out = l.make(0, l.dtype(0), shape), place = l.make(1, l.node().outputs[1].type.dtype, shape);
  if (count_of(shape) == 0) return;
  const Planned positions = channels_first(place, true);
  OperatorCall call = l.call("max_pool_indices");
  set_windows(call, p).set("self", images).set("out", channels_first(out, true)).set("indices", positions);
  flatten_positions(l, positions, images.shape(), l.attributes().get_or<bool>("include_batch_in_index", false));
}

/// Planes as lines: [n, c, spatial…] with its spatial axes as one. They lie so in both data formats.
Planned as_lines(const Planned& images) {
  const Dims &shape = images.shape(), &strides = images.view.strides;
  int64_t size = 1;
  for (size_t d = 2; d < shape.size(); ++d) size *= shape[d];
  return restrided(images, {shape[0], shape[1], size}, {strides[0], strides[1], strides.back()});
}

/// The gradient of the gradient: what stands in the images' gradient where each maximum was found.
void max_pool_grad_grad(Lowering& l) {
  check_dtype(l, l.dtype(0));
  const bool last = channels_last(l);
  const Planned images = channels_first(l.input(0), last), gradient = channels_first(in_rows(l, l.input(2)), last);
  const Pool p = describe(l, images.shape(), 3);
  require(gradient.shape() == images.shape(), "the gradient is {}, the images are {} (batch, channels, spatial)",
          gradient.shape(), images.shape());
  const Dims shape = in_format(p.out, last);
  const Planned out = l.make(0, l.dtype(0), shape);
  if (count_of(shape) == 0) return;
  const Planned best = channels_first(l.scratch(l.dtype(0), shape), last);
  const Planned place = maxima(l, p, images, best, DType::kInt64);
  l.call("gather")
      .set("self", as_lines(gradient))
      .set("dim", int64_t{2})
      .set("index", as_lines(place))
      .set("out", as_lines(channels_first(out, last)));
}

/// Inputs: the images, the gradient of the maxima, their positions as MaxPoolWithArgmax gives them.
void max_pool_grad_with_argmax(Lowering& l) {
  check_dtype(l, l.dtype(0));
  const Dims& shape = l.shape(0);
  require(l.shape(1) == l.shape(2), "grad is {}, argmax is {}: the shapes must be equal", l.shape(1), l.shape(2));
  const Planned out = l.make(0, l.dtype(0), shape);
  fill(l, out, Scalar(0));
  if (l.input(1).view.count() == 0 || shape.empty()) return;
  // One line for each image, or a single one where positions count the batch.
  const bool with_batch = l.attributes().get_or<bool>("include_batch_in_index", false);
  const int64_t lines = with_batch ? 1 : shape[0];
  const auto in_lines = [&](const Planned& p) {
    const Planned rows = in_rows(l, p);
    return reshaped(rows, {lines, rows.view.count() / lines});
  };
  const Planned index = in_lines(l.input(2)), gradient = in_lines(l.input(1)), target = in_lines(out);
  l.call("scatter")
      .set("self", target)
      .set("dim", int64_t{1})
      .set("index", index)
      .set("src", gradient)
      .set("reduction", int64_t{1})
      .set("out", target);
}

void avg_pool(Lowering& l) {
  check_dtype(l, l.dtype(0));
  const Planned images = channels_first(l.input(0), channels_last(l));
  const Pool p = describe(l, images.shape());
  const Planned out = l.make(0, l.dtype(0), in_format(p.out, p.last));
  if (count_of(p.out) == 0) return;
  OperatorCall call = l.call("avg_pool");
  set_windows(call, p).set("self", images).set("count_include_pad", false).set("out", channels_first(out, p.last));
}

void avg_pool_grad(Lowering& l) {
  check_dtype(l, l.dtype(1));
  const bool last = channels_last(l);
  const std::vector<int64_t> shape = l.integers(0);
  const Planned out = l.make(0, l.dtype(1), Dims(std::span(shape)));
  const Planned images = channels_first(out, last), gradient = channels_first(l.input(1), last);
  const Pool p = describe(l, images.shape());
  require(gradient.shape() == p.out, "the gradient is {} (batch, channels, spatial); the windows give {}",
          gradient.shape(), p.out);
  if (count_of(p.out) == 0) return fill(l, out, Scalar(0));
  OperatorCall call = l.call("avg_pool_backward");
  set_windows(call, p).set("grad_output", gradient).set("self", images).set("count_include_pad", false);
  call.set("grad_input", images);
}

NPU_NODE("MaxPool", max_pool);
NPU_NODE("MaxPoolV2", max_pool);
NPU_NODE("MaxPool3D", max_pool);
NPU_NODE("MaxPoolGrad", max_pool_grad);
NPU_NODE("MaxPoolGradV2", max_pool_grad);
NPU_NODE("MaxPool3DGrad", max_pool_grad);
NPU_NODE("MaxPoolGradGrad", max_pool_grad_grad);
NPU_NODE("MaxPoolGradGradV2", max_pool_grad_grad);
NPU_NODE("MaxPool3DGradGrad", max_pool_grad_grad);
NPU_NODE("MaxPoolGradWithArgmax", max_pool_grad_with_argmax);
NPU_NODE("MaxPoolWithArgmax", max_pool_with_argmax);
NPU_NODE("AvgPool", avg_pool);
NPU_NODE("AvgPool3D", avg_pool);
NPU_NODE("AvgPoolGrad", avg_pool_grad);
NPU_NODE("AvgPool3DGrad", avg_pool_grad);

}  // namespace
}  // namespace npu::graph
