// SPDX-License-Identifier: Apache-2.0
// Quantised numbers: q stands for (q - zero point) · scale. The reference path: products are taken of the numbers
// without their zero points in float64, which holds sums of products of bytes exactly, and are rounded once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "graph/node/onnx/byte_scale.h"
#include "graph/node/onnx/convolution.h"
#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

/// `numbers` laid along `axis` of a tensor of `rank` axes: one number stands for all, a tensor of that rank stays.
Planned along(const Planned& numbers, size_t axis, size_t rank) {
  if (numbers.view.count() == 1) return restrided(numbers, {}, {});
  if (numbers.shape().size() != 1) {
    require(numbers.shape().size() == rank,
            "a scale or zero point is {}; it needs one number, one for each element of an axis, "
            "or as many axes as the tensor",
            numbers.shape());
    return numbers;
  }
  Dims shape(rank, 1), strides(rank, 0);
  shape[axis] = numbers.shape()[0], strides[axis] = numbers.view.strides[0];
  return restrided(numbers, shape, strides);
}

/// Scales or zero points of a tensor of `shape` as they broadcast to it; with blocks, each stands for some elements of
/// the axis.
Planned parameter(Lowering& l, const Planned& numbers, const Dims& shape, size_t axis) {
  const int64_t block = int_attribute(l, "block_size", 0);
  if (block == 0 || numbers.shape().size() != shape.size()) {
    const Planned laid = along(numbers, axis, shape.size());
    require(broadcast(laid.shape(), shape) == shape,
            "a scale or zero point is {}, the tensor is {}: it does not fit axis {}", numbers.shape(), shape, axis);
    return laid;
  }
  require(numbers.shape()[axis] == (shape[axis] + block - 1) / block && shape[axis] % block == 0,
          "a scale is {}, the tensor is {}: blocks of {} along axis {} do not fit", numbers.shape(), shape, block,
          axis);
  Dims split = numbers.shape(), whole = numbers.shape();
  split.insert(axis + 1, 1), whole.insert(axis + 1, block);
  const Planned rows = in_rows(l, numbers), out = l.scratch(numbers.dtype(), shape);
  Dims out_split = shape;
  out_split[axis] /= block, out_split.insert(axis + 1, block);
  copy(l, expanded(reshaped(rows, split), out_split), reshaped(out, out_split));
  return out;
}

Planned widened(Lowering& l, const Planned& in, DType slot) {
  if (in.dtype() == slot) return in;
  const Planned out = l.scratch(slot, in.shape());
  copy(l, in, out);
  return out;
}

/// to = to op by.
void apply(Lowering& l, std::string_view op, const Planned& to, const Planned& by) {
  const Planned wide = widened(l, by, to.dtype());
  l.call(op).set("self", to).set("other", wide).set("out", to);
}

/// The numbers less their zero point, in float64 or float.
Planned less_zero(Lowering& l, const Planned& in, const std::optional<Planned>& zero, DType slot) {
  const Planned out = l.scratch(slot, in.shape());
  copy(l, in, out);
  if (zero) apply(l, "sub", out, *zero);
  return out;
}

Scalar least(DType dtype) {
  Scalar out;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 2)
      out = Scalar(static_cast<int64_t>(std::numeric_limits<T>::min()));
  });
  return out;
}
Scalar largest(DType dtype) {
  Scalar out;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 2)
      out = Scalar(static_cast<int64_t>(std::numeric_limits<T>::max()));
  });
  return out;
}

/// `numbers`, which are written over, rounded half to even, moved by the zero point and held in the type's range.
void store_rounded(Lowering& l, const Planned& numbers, const std::optional<Planned>& zero, const Planned& out) {
  require(is_integer(out.dtype()) && size_of(out.dtype()) <= 2,
          "it quantises to {}; int8, uint8, int16 and uint16 are built", out.dtype());
  l.call("round").set("self", numbers).set("out", numbers);
  if (zero) apply(l, "add", numbers, *zero);
  l.call("clamp")
      .set("self", numbers)
      .set("min", number_of(least(out.dtype())))
      .set("max", number_of(largest(out.dtype())))
      .set("out", numbers);
  copy(l, numbers, out);
}

size_t axis_of(const Lowering& l, size_t rank) {
  if (rank == 0) return 0;
  const int64_t axis = int_attribute(l, "axis", 1);
  // Where one number stands for all, the axis says nothing.
  if (l.input(at(l, 1)).view.count() == 1) return 0;
  return checked_axis(axis, rank);
}

std::optional<Planned> zero_point(Lowering& l, size_t i, const Dims& shape, size_t axis) {
  if (!has(l, i)) return std::nullopt;
  return parameter(l, l.input(at(l, i)), shape, axis);
}

void quantize(Lowering& l) {
  const Planned x = l.input(at(l, 0));
  const Dims shape = x.shape();
  const size_t axis = axis_of(l, shape.size());
  const DType slot = slot_of(x.dtype());
  const Planned scale = widened(l, parameter(l, l.input(at(l, 1)), shape, axis), slot);
  const Planned out = l.make(0, out_type(l), shape), numbers = l.scratch(slot, shape);
  if (out.view.count() == 0) return;
  const Planned wide = widened(l, x, slot);
  l.call("div").set("self", wide).set("other", scale).set("out", numbers);
  store_rounded(l, numbers, zero_point(l, 2, shape, axis), out);
}

void dequantize(Lowering& l) {
  const Planned x = l.input(at(l, 0));
  const Dims shape = x.shape();
  const size_t axis = axis_of(l, shape.size());
  const DType slot = slot_of(x.dtype());
  const Planned scale = widened(l, parameter(l, l.input(at(l, 1)), shape, axis), slot);
  const Planned out = l.make(0, out_type(l), shape);
  if (out.view.count() == 0) return;
  const Planned numbers = less_zero(l, x, zero_point(l, 2, shape, axis), slot);
  l.call("mul").set("self", numbers).set("other", scale).set("out", numbers);
  copy(l, numbers, out);
}

void dynamic_quantize(Lowering& l) {
  const Planned x = rows_of(l, l.input(0), DType::kFloat);
  const Planned y = l.make(0, DType::kUInt8, x.shape()), scale = l.make(1, DType::kFloat, {});
  const Planned zero = l.make(2, DType::kUInt8, {});
  l.run({x}, {y, scale, zero}, [=](Frame& frame) {
    const Tensor from = frame.tensor(x);
    const ByteScale bytes = byte_scale_of(from.as<float>(), from.count());
    *frame.tensor(scale).as<float>() = bytes.scale;
    *frame.tensor(zero).as<uint8_t>() = static_cast<uint8_t>(bytes.zero);
    auto* to = frame.tensor(y).as<uint8_t>();
    for (int64_t i = 0; i < from.count(); ++i) to[i] = static_cast<uint8_t>(bytes.byte(from.as<float>()[i]));
  });
}

/// Rows of a matrix on the left have numbers of their own, columns of one on the right.
Planned of_rows(const Planned& numbers, size_t rank) {
  require(rank >= 2, "the operands must be matrices");
  return along(numbers, rank - 2, rank);
}
Planned of_columns(const Planned& numbers, size_t rank) {
  require(rank >= 2, "the operands must be matrices");
  return along(numbers, rank - 1, rank);
}
/// The same for numbers as wide as the result.
std::optional<Planned> maybe(const Lowering& l, size_t i, Planned (*lay)(const Planned&, size_t), size_t rank) {
  if (!has(l, i)) return std::nullopt;
  return lay(l.input(at(l, i)), rank);
}

/// Sums of products of the numbers without zero points, float64.
Planned product(Lowering& l, const Planned& a, const Planned& b) {
  const Dims &left = a.shape(), &right = b.shape();
  require(left.size() >= 2 && right.size() >= 2 && left.back() == right[right.size() - 2],
          "the operands are {} and {}: their inner sizes do not agree", left, right);
  Dims shape =
      broadcast(Dims(std::span(left.data(), left.size() - 2)), Dims(std::span(right.data(), right.size() - 2)));
  shape.push_back(left[left.size() - 2]), shape.push_back(right.back());
  const Planned out = l.scratch(DType::kDouble, shape);
  l.call("matmul").set("self", a).set("mat2", b).set("out", out);
  return out;
}

void mat_mul_integer(Lowering& l) {
  const Planned a = l.input(at(l, 0)), b = l.input(at(l, 1));
  const Planned left = less_zero(l, a, maybe(l, 2, of_rows, a.shape().size()), DType::kDouble);
  const Planned right = less_zero(l, b, maybe(l, 3, of_columns, b.shape().size()), DType::kDouble);
  const Planned sums = product(l, left, right);
  copy(l, sums, l.make(0, DType::kInt32, sums.shape()));
}

/// sums · first scale · second scale / scale of the result, rounded into output 0.
void store_scaled(Lowering& l, const Planned& sums, const Planned& first, const Planned& second, const Planned& scale,
                  const std::optional<Planned>& zero) {
  const Planned out = l.make(0, out_type(l), sums.shape());
  if (out.view.count() == 0) return;
  apply(l, "mul", sums, first), apply(l, "mul", sums, second), apply(l, "div", sums, scale);
  store_rounded(l, sums, zero, out);
}

void mat_mul_quantised(Lowering& l) {
  const Planned a = l.input(at(l, 0)), b = l.input(at(l, 3));
  const size_t left = a.shape().size(), right = b.shape().size(), rank = std::max(left, right);
  const Planned sums = product(l, less_zero(l, a, maybe(l, 2, of_rows, left), DType::kDouble),
                               less_zero(l, b, maybe(l, 5, of_columns, right), DType::kDouble));
  store_scaled(l, sums, of_rows(l.input(at(l, 1)), rank), of_columns(l.input(at(l, 4)), rank),
               of_rows(l.input(at(l, 6)), rank), maybe(l, 7, of_rows, rank));
}

/// Of images and a weight; pads stand for the zero point, which is 0 by then.
Planned convolved(Lowering& l, const Planned& x, const Planned& w, const std::optional<Planned>& x_zero,
                  const std::optional<Planned>& w_zero) {
  const Windows windows = convolution_windows(l, x.shape(), w.shape());
  const Planned out = l.scratch(DType::kDouble, convolved_shape(x.shape(), w.shape(), windows));
  if (out.view.count() == 0) return out;
  const Planned image = less_zero(l, x, x_zero, DType::kDouble), weight = less_zero(l, w, w_zero, DType::kDouble);
  convolve(l, image, weight, nullptr, windows, out);
  return out;
}

Planned of_first(const Planned& numbers, size_t rank) { return along(numbers, 0, rank); }
Planned of_channels(const Planned& numbers, size_t rank) { return along(numbers, 1, rank); }

void conv_integer(Lowering& l) {
  const Planned x = l.input(at(l, 0)), w = l.input(at(l, 1));
  const size_t rank = x.shape().size();
  const Planned sums = convolved(l, x, w, maybe(l, 2, of_channels, rank), maybe(l, 3, of_first, rank));
  copy(l, sums, l.make(0, DType::kInt32, sums.shape()));
}

void conv_quantised(Lowering& l) {
  const Planned x = l.input(at(l, 0)), w = l.input(at(l, 3));
  const size_t rank = x.shape().size();
  const Planned sums = convolved(l, x, w, maybe(l, 2, of_channels, rank), maybe(l, 5, of_first, rank));
  if (has(l, 8)) apply(l, "add", sums, of_channels(l.input(at(l, 8)), rank));
  store_scaled(l, sums, of_channels(l.input(at(l, 1)), rank), of_channels(l.input(at(l, 4)), rank),
               of_channels(l.input(at(l, 6)), rank), maybe(l, 7, of_channels, rank));
}

NPU_NODE("ai.onnx::QuantizeLinear", quantize);
NPU_NODE("ai.onnx::DequantizeLinear", dequantize);
NPU_NODE("ai.onnx::DynamicQuantizeLinear", dynamic_quantize);
NPU_NODE("ai.onnx::MatMulInteger", mat_mul_integer);
NPU_NODE("ai.onnx::QLinearMatMul", mat_mul_quantised);
NPU_NODE("ai.onnx::ConvInteger", conv_integer);
NPU_NODE("ai.onnx::QLinearConv", conv_quantised);

}  // namespace
}  // namespace npu::graph::onnx
