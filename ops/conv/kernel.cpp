// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/kernel.h"

#include "ops/cube/channels_last.h"
#include "ops/vector/convert.h"

namespace npu::ops {
namespace {

// Calls body(offset in the strided tensor, position in dense order) for each row of the last axis.
template <class F>
void each_row(const Tensor& t, F&& body) {
  const int64_t length = t.shape.back();
  const int64_t rows = length == 0 ? 0 : t.count() / length;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t offset = 0, rest = i;
    for (size_t d = t.rank() - 1; d-- > 0; rest /= t.shape[d]) offset += rest % t.shape[d] * t.strides[d];
    body(offset, i * length);
  }
}

int64_t bytes_of(DType dtype) { return static_cast<int64_t>(size_of(dtype)); }

}  // namespace

DType conv_slot(const ConvTensors& t) {
  for (const Tensor* tensor : {&t.src, &t.weight, &t.bias, &t.dst}) {
    if (tensor->dtype == DType::kDouble) return DType::kDouble;
  }
  return DType::kFloat;
}

void to_dense(const Tensor& weight, DType dtype, void* to) {
  const Convert convert = converter(weight.dtype, dtype);
  if (weight.contiguous()) return convert(weight.bytes(), 1, to, 1, weight.count());
  if (cube::is_channels_last(weight)) {
    return cube::from_channels_last(weight.bytes(), weight.dtype, make_tensor(to, dtype, weight.shape));
  }
  each_row(weight, [&](int64_t offset, int64_t position) {
    convert(weight.bytes() + offset * bytes_of(weight.dtype), weight.strides.back(),
            static_cast<std::byte*>(to) + position * bytes_of(dtype), 1, weight.shape.back());
  });
}

void from_dense(const void* from, DType dtype, const Tensor& weight) {
  const Convert convert = converter(dtype, weight.dtype);
  if (weight.contiguous()) return convert(from, 1, weight.bytes(), 1, weight.count());
  if (cube::is_channels_last(weight)) {
    return cube::to_channels_last(make_tensor(const_cast<void*>(from), dtype, weight.shape), weight.dtype,
                                  weight.bytes());
  }
  each_row(weight, [&](int64_t offset, int64_t position) {
    convert(static_cast<const std::byte*>(from) + position * bytes_of(dtype), 1,
            weight.bytes() + offset * bytes_of(weight.dtype), weight.strides.back(), weight.shape.back());
  });
}

std::unique_ptr<ConvKernel> make_conv(cube::ConvPass pass, const cube::ConvShape& shape, const ConvTensors& tensors) {
  for (ConvMaker* make : {make_pointwise_conv, make_tiled_conv}) {
    if (auto kernel = make(pass, shape, tensors)) return kernel;
  }
  return make_unfolded_conv(pass, shape, tensors);
}

}  // namespace npu::ops
