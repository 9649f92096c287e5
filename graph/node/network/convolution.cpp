// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients over 2 and 3 spatial axes. Images in either data format and filters [kernel…, in,
// out] are views of what the operators of `ops` call [n, c, spatial…] and [out, in, kernel…], which filters are already
// where filter_format is "OIHW".
#include "graph/node/layout.h"

namespace npu::graph {
namespace {

/// The shapes of one convolution as `ops` sees them, and its options.
struct Convolution {
  bool last = true, depthwise = false;
  Dims src, weight, dst;
  std::vector<int64_t> stride, dilation, padding;
  int64_t groups = 1;
};

bool is_depthwise(const Lowering& l) { return l.target() == "depthwise"; }

bool is_weight_already(const Lowering& l) { return l.attributes().get_or<std::string>("filter_format", "") == "OIHW"; }

/// [kernel…, in, out] as [out, in, kernel…]; a depthwise filter [kernel…, in, times] as [in · times, 1, kernel…].
Planned weight_view(Lowering& l, Planned filter) {
  if (is_weight_already(l)) return filter;
  const auto rank = static_cast<int64_t>(filter.shape().size());
  if (is_depthwise(l)) {
    Dims shape = filter.shape();
    const int64_t times = shape.back();
    shape.pop_back();
    shape.push_back(shape.back() * times);
    shape[shape.size() - 2] = 1;
    filter = reshaped(in_rows(l, filter), shape);
  }
  std::vector<int64_t> order{rank - 1, rank - 2};
  for (int64_t d = 0; d < rank - 2; ++d) order.push_back(d);
  return permuted(filter, order);
}

/// The weight's shape for a filter's.
Dims weight_shape(const Lowering& l, const Dims& filter) {
  if (is_weight_already(l)) return filter;
  const size_t rank = filter.size();
  Dims shape{filter[rank - 1], filter[rank - 2]};
  if (is_depthwise(l)) shape = {filter[rank - 1] * filter[rank - 2], 1};
  for (size_t d = 0; d + 2 < rank; ++d) shape.push_back(filter[d]);
  return shape;
}

void check_dtype(const Lowering& l, DType dtype) {
  if (!is_floating(dtype)) l.decline(fmt::format("it computes {}", dtype));
}

void check_channels(const Convolution& c) {
  const int64_t in = c.src[1], out = c.weight[0];
  require(c.weight[1] > 0 && in % c.weight[1] == 0, "input depth must be evenly divisible by filter depth: {} vs {}",
          in, c.weight[1]);
  require(c.groups > 0 && out % c.groups == 0, "output depth {} must be evenly divisible by the number of groups {}",
          out, c.groups);
}

/// `src` is [n, c, spatial…], `filter` as the node has it.
Convolution describe(const Lowering& l, const Dims& src, const Dims& filter) {
  require(src.size() == filter.size() && src.size() >= 4, "input and filter have {} and {} dimensions", src.size(),
          filter.size());
  const Dims weight = weight_shape(l, filter);
  const bool last = channels_last(l);
  Convolution c{last, is_depthwise(l), src, weight, {src[0], weight[0]}, {}, {}, {}, 1};
  c.stride = spatial(l, "strides", l.attributes().get<std::vector<int64_t>>("strides"), last);
  const auto dilations = l.attributes().get_or<std::vector<int64_t>>("dilations", {});
  c.dilation = dilations.empty() ? std::vector<int64_t>(src.size() - 2, 1) : spatial(l, "dilations", dilations, last);
  // TensorFlow's CPU kernels of these two leave dilations out.
  for (const int64_t d : c.dilation)
    if (d != 1 && !is_weight_already(l) && (c.depthwise || src.size() == 5)) l.decline("it has dilations");
  c.groups = c.weight[1] > 0 ? src[1] / c.weight[1] : 1;
  check_channels(c);
  const int64_t named = l.attributes().get_or<int64_t>("group", c.groups);
  require(named == c.groups, "group is {}; {} channels and a filter of {} make {} groups", named, src[1], filter,
          c.groups);
  require(!c.depthwise || filter[filter.size() - 2] == src[1], "input has {} channels, the filter {}", src[1],
          filter[filter.size() - 2]);
  std::vector<int64_t> reach;
  for (size_t d = 0; d < c.dilation.size(); ++d) reach.push_back((weight[d + 2] - 1) * c.dilation[d] + 1);
  for (const WindowAxis& axis : window_axes(l, std::span(src.data() + 2, src.size() - 2), reach, c.stride, last)) {
    c.dst.push_back(axis.out);
    c.padding.insert(c.padding.end(), {axis.before, axis.after});
  }
  return c;
}

void set_options(OperatorCall call, const Convolution& c) {
  call.set("stride", c.stride).set("padding", c.padding).set("dilation", c.dilation).set("groups", c.groups);
}

Dims as_dims(const std::vector<int64_t>& sizes) { return Dims(std::span(sizes)); }

bool nothing_to_add(const Convolution& c) { return count_of(c.src) == 0 || count_of(c.dst) == 0; }

void forward(Lowering& l) {
  check_dtype(l, l.dtype(0));
  const bool last = channels_last(l);
  const Planned src = channels_first(l.input(0), last);
  const Convolution c = describe(l, src.shape(), l.shape(1));
  const Planned out = last ? l.make(0, l.dtype(0), in_format(c.dst, true)) : make_images(l, 0, l.dtype(0), c.dst);
  if (count_of(c.dst) == 0) return;
  const Planned weight = weight_view(l, l.input(1));
  OperatorCall call = l.call("convolution");
  call.set("input", src).set("weight", weight).set("out", channels_first(out, last)).set("kept_weight", l.known(1));
  if (l.input_count() > 2) call.set("bias", l.input(2));
  set_options(call, c);
}

void check_gradient(const Convolution& c, const Planned& gradient) {
  require(gradient.shape() == c.dst, "out_backprop is {} (batch, channels, spatial); the arguments give {}",
          gradient.shape(), c.dst);
}

/// input_sizes names all sizes, or the spatial ones only.
Dims input_shape(const Lowering& l, const Planned& gradient, bool last) {
  Dims sizes = as_dims(l.integers(0));
  if (sizes.size() + 2 == gradient.shape().size()) {
    require(!is_depthwise(l), "input_sizes has {} values; it needs one for each axis", sizes.size());
    sizes.insert(0, l.shape(1)[l.shape(1).size() - 2]);
    sizes.insert(0, gradient.shape()[0]);
    return sizes;
  }
  require(sizes.size() == gradient.shape().size(), "input_sizes has {} values for {} axes", sizes.size(),
          gradient.shape().size());
  if (!last) return sizes;
  const int64_t channels = sizes.back();
  sizes.pop_back();
  sizes.insert(1, channels);
  return sizes;
}

void backprop_input(Lowering& l) {
  check_dtype(l, l.dtype(2));
  const bool last = channels_last(l);
  const Planned gradient = channels_first(l.input(2), last);
  const Convolution c = describe(l, input_shape(l, gradient, last), l.shape(1));
  check_gradient(c, gradient);
  const Planned out = l.make(0, l.dtype(2), in_format(c.src, last)), grad_input = channels_first(out, last);
  if (nothing_to_add(c)) return fill(l, out, Scalar(0));
  const Planned weight = weight_view(l, l.input(1));
  OperatorCall call = l.call("convolution_backward");
  call.set("grad_output", gradient).set("input", grad_input).set("weight", weight).set("grad_input", grad_input);
  set_options(call, c);
  call.set("output_mask", std::vector<bool>{true, false, false});
}

void backprop_filter(Lowering& l) {
  check_dtype(l, l.dtype(2));
  const bool last = channels_last(l);
  const Planned src = channels_first(l.input(0), last), gradient = channels_first(l.input(2), last);
  const Dims filter = as_dims(l.integers(1));
  require(filter.size() == src.shape().size(), "filter_sizes has {} values for {} axes", filter.size(),
          src.shape().size());
  const Convolution c = describe(l, src.shape(), filter);
  check_gradient(c, gradient);
  const Planned out = l.make(0, l.dtype(2), filter);
  if (nothing_to_add(c)) return fill(l, out, Scalar(0));
  const Planned grad_weight = weight_view(l, out);
  OperatorCall call = l.call("convolution_backward");
  call.set("grad_output", gradient).set("input", src).set("weight", grad_weight).set("grad_weight", grad_weight);
  set_options(call, c);
  call.set("output_mask", std::vector<bool>{false, true, false});
}

NPU_NODE(Kind::kConvolution, forward);
NPU_NODE(Kind::kConvolutionInputGrad, backprop_input);
NPU_NODE(Kind::kConvolutionFilterGrad, backprop_filter);
NPU_NODE(Kind::kDepthwiseConvolution, forward, "depthwise");
NPU_NODE(Kind::kDepthwiseConvolutionInputGrad, backprop_input, "depthwise");
NPU_NODE(Kind::kDepthwiseConvolutionFilterGrad, backprop_filter, "depthwise");

}  // namespace
}  // namespace npu::graph
