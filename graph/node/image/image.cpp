// SPDX-License-Identifier: Apache-2.0
// Images resized, and the gradients of it. Images come with channels last and are read as views with channels first.
#include "graph/node/array.h"

namespace npu::graph {
namespace {

Planned channels_first(const Planned& image) {
  require(image.shape().size() == 4, "the image is {}; it must have 4 dimensions", image.shape());
  return permuted(image, {0, 3, 1, 2});
}

/// How positions of the output are counted in the input, as a mode of the operator.
std::string mode_of(const Lowering& l, bool nearest) {
  const bool corners = l.attributes().get_or<bool>("align_corners", false);
  const bool centers = l.attributes().get_or<bool>("half_pixel_centers", false);
  if (corners && (nearest || centers)) l.decline("resizing with aligned corners in this way is left to the client");
  if (nearest) return centers ? "nearest_exact" : "nearest";
  return centers || corners ? "linear" : "linear_origin";
}

Planned as_type(Lowering& l, const Planned& in, DType dtype) {
  if (in.dtype() == dtype) return in;
  const Planned out = l.scratch(dtype, in.shape());
  copy(l, in, out);
  return out;
}

void resize(Lowering& l, bool nearest) {
  const std::string mode = mode_of(l, nearest);
  const DType dtype = out_type(l);
  if (!is_floating(dtype)) l.decline("images of integers are left to the client");
  const std::vector<int64_t> size = l.integers(1);
  require(size.size() == 2 && size[0] > 0 && size[1] > 0, "output dimensions must be positive");
  const Planned image = as_type(l, l.input(0), dtype);
  const Dims& shape = image.shape();
  require(shape.size() == 4 && shape[1] > 0 && shape[2] > 0, "the image is {}; it must have 4 dimensions", shape);
  l.call("upsample")
      .set("self", channels_first(image))
      .set("output_size", size)
      .set("align_corners", l.attributes().get_or<bool>("align_corners", false))
      .set("mode", mode)
      .set("out", channels_first(l.make(0, dtype, {shape[0], size[0], size[1], shape[3]})));
}

/// The gradient of an image of `height` x `width`.
void resize_grad(Lowering& l, bool nearest, int64_t height, int64_t width) {
  const std::string mode = mode_of(l, nearest);
  const DType dtype = out_type(l);
  if (!is_floating(dtype)) l.decline("images of integers are left to the client");
  const Planned gradient = as_type(l, l.input(0), dtype);
  const Dims& shape = gradient.shape();
  require(shape.size() == 4, "the gradient is {}; it must have 4 dimensions", shape);
  l.call("upsample_backward")
      .set("grad_output", channels_first(gradient))
      .set("output_size", std::vector<int64_t>{shape[1], shape[2]})
      .set("input_size", std::vector<int64_t>{shape[0], shape[3], height, width})
      .set("align_corners", l.attributes().get_or<bool>("align_corners", false))
      .set("mode", mode)
      .set("grad_input", channels_first(l.make(0, dtype, {shape[0], height, width, shape[3]})));
}

void resize_bilinear(Lowering& l) { resize(l, false); }
void resize_nearest(Lowering& l) { resize(l, true); }
void resize_bilinear_grad(Lowering& l) {
  require(l.shape(1).size() == 4, "the image is {}; it must have 4 dimensions", l.shape(1));
  resize_grad(l, false, l.shape(1)[1], l.shape(1)[2]);
}
void resize_nearest_grad(Lowering& l) {
  const std::vector<int64_t> size = l.integers(1);
  require(size.size() == 2, "size has {} numbers; it must have 2", size.size());
  resize_grad(l, true, size[0], size[1]);
}

NPU_NODE("ResizeBilinear", resize_bilinear);
NPU_NODE("ResizeNearestNeighbor", resize_nearest);
NPU_NODE("ResizeBilinearGrad", resize_bilinear_grad);
NPU_NODE("ResizeNearestNeighborGrad", resize_nearest_grad);

}  // namespace
}  // namespace npu::graph
