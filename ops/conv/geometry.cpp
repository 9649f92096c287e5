// SPDX-License-Identifier: Apache-2.0
// Whatever a client can get wrong is refused here, with the argument's name: kernels see only geometries that hold.
#include "ops/conv/geometry.h"

#include <fmt/ranges.h>

namespace npu::ops {
namespace {

// Value of spatial axis `d`: lists of one value stand for all axes.
int64_t value(const std::vector<int64_t>& list, size_t d, int64_t otherwise) {
  if (list.empty()) return otherwise;
  return list.size() == 1 ? list[0] : list[d];
}

struct Padding {
  int64_t before, after;
};

Padding padding_of(const ConvOptions& o, size_t d, size_t rank) {
  if (o.padding.size() == 2 * rank) return {o.padding[2 * d], o.padding[2 * d + 1]};
  const int64_t both = value(o.padding, d, 0);
  return {both, both};
}

// Far above any layer's, and low enough that sums of products of two fit 64 bits.
constexpr int64_t kLargest = int64_t{1} << 30;
constexpr int64_t kLargestInput = int64_t{1} << 32;

void check_list(const char* name, const std::vector<int64_t>& list, size_t rank, int64_t least, bool pairs = false) {
  require(list.size() <= 1 || list.size() == rank || (pairs && list.size() == 2 * rank),
          "{} has {} values for {} spatial dimensions; give one, or one per dimension", name, list.size(), rank);
  for (const int64_t v : list) {
    require(v >= least, "{} is [{}]: each value must be at least {}", name, fmt::join(list, ", "), least);
    require(v <= kLargest, "{} is [{}]: each value must be at most 2^30", name, fmt::join(list, ", "));
  }
}

void check_arguments(const Tensor& input, const Tensor& weight, const ConvOptions& o) {
  require(input.rank() >= 3 && input.rank() <= 5,
          "input is {}: convolution takes 3 to 5 dimensions (batch, channels, 1 to 3 spatial)", input.shape);
  require(weight.rank() == input.rank(), "input has {} dimensions, weight {}: they must agree", input.rank(),
          weight.rank());
  const size_t rank = input.rank() - 2;
  check_list("stride", o.stride, rank, 1);
  check_list("padding", o.padding, rank, 0, true);
  check_list("dilation", o.dilation, rank, 1);
  check_list("output_padding", o.output_padding, rank, 0);
  require(o.groups > 0, "groups is {}; it must be at least 1", o.groups);
}

void check_channels(const Tensor& input, const Tensor& weight, const ConvOptions& o) {
  const int64_t channels = input.shape[1];
  require(weight.shape[0] % o.groups == 0, "weight is {}: its first size must be a multiple of groups ({})",
          weight.shape, o.groups);
  // count_of refuses a product that leaves 64 bits, where a plain one would wrap around.
  const int64_t expected = o.transposed ? weight.shape[0] : count_of({weight.shape[1], o.groups});
  require(channels == expected, "input has {} channels, weight {} with groups {} takes {}", channels, weight.shape,
          o.groups, expected);
  for (size_t d = 2; d < weight.rank(); ++d) {
    require(weight.shape[d] > 0 && weight.shape[d] <= kLargest,
            "weight is {}: kernel sizes must be at least 1, at most 2^30", weight.shape);
    require(input.shape[d] <= kLargestInput, "input is {}: spatial sizes must be at most 2^32", input.shape);
  }
}

}  // namespace

Dims conv_output_shape(const Tensor& input, const Tensor& weight, const ConvOptions& o) {
  check_arguments(input, weight, o);
  check_channels(input, weight, o);
  const size_t rank = input.rank() - 2;
  Dims shape{input.shape[0], o.transposed ? count_of({weight.shape[1], o.groups}) : weight.shape[0]};
  for (size_t d = 0; d < rank; ++d) {
    const Padding pad = padding_of(o, d, rank);
    const int64_t stride = value(o.stride, d, 1), dilation = value(o.dilation, d, 1), size = input.shape[d + 2];
    const int64_t extent = dilation * (weight.shape[d + 2] - 1) + 1, padded = size + pad.before + pad.after;
    if (o.transposed) {
      // With a stride above 1 several input sizes lead to one output size; output_padding says which of them is meant.
      const int64_t more = value(o.output_padding, d, 0);
      require(more < stride || more < dilation, "output_padding {} must be smaller than stride {} or dilation {}", more,
              stride, dilation);
      const int64_t out = (size - 1) * stride + extent - pad.before - pad.after + more;
      require(size > 0 && out > 0, "input {} gives an output of size {} in dimension {}; make the padding smaller",
              input.shape, out, d + 2);
      shape.push_back(out);
    } else {
      require(padded >= extent, "input {} padded to {} in dimension {} is smaller than the kernel, which spans {}",
              input.shape, padded, d + 2, extent);
      // Rounded down: a last window that does not fit whole is left out.
      shape.push_back((padded - extent) / stride + 1);
    }
  }
  return shape;
}

cube::ConvShape conv_shape(const Tensor& input, const Tensor& weight, const Tensor& output, const ConvOptions& o) {
  const Tensor& src = o.transposed ? output : input;
  const Tensor& dst = o.transposed ? input : output;
  const size_t rank = input.rank() - 2;
  cube::ConvShape s;
  s.n = src.shape[0], s.c = src.shape[1], s.o = dst.shape[1], s.groups = o.groups;
  // Missing axes lead and keep size 1: kernels see two or three axes and need no case for one.
  s.rank = rank == 3 ? 3 : 2;
  for (size_t d = 0; d < rank; ++d) {
    const size_t at = cube::kMaxSpatial - rank + d;
    s.in[at] = src.shape[d + 2], s.out[at] = dst.shape[d + 2], s.kernel[at] = weight.shape[d + 2];
    s.stride[at] = value(o.stride, d, 1), s.dilation[at] = value(o.dilation, d, 1);
    // What follows the last element is not kept: it comes from the sizes (ConvShape::pad_after), output_padding
    // included.
    s.pad[at] = padding_of(o, d, rank).before;
  }
  return s;
}

Tensor at_least_2d(const Tensor& images) {
  Tensor out = images;
  if (images.rank() != 3) return out;
  out.shape.insert(2, 1);
  // The stride that a dense image of height 1 would have, so that the check for channels-last memory holds.
  out.strides.insert(2, images.shape[2] * images.strides[2]);
  return out;
}

}  // namespace npu::ops
