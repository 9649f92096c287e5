// SPDX-License-Identifier: Apache-2.0
#include "ops/pooling/planes.h"

namespace npu::ops {
namespace {

constexpr int64_t kLanes = 32;  // two cache lines of floats, one of halves

}  // namespace

int64_t plane_lanes(const Tensor& t, size_t spatial) {
  if (t.rank() <= spatial) return 1;
  const size_t channel = t.rank() - spatial - 1;
  // Fewer than 8 channels would leave most of a vector empty.
  if (t.strides[channel] != 1 || t.shape[channel] < 8) return 1;
  return std::min(kLanes, t.shape[channel]);
}

DType pool_slot(const char* name, const Tensor& t) {
  require(is_floating(t.dtype), "{} is {}; use float32, float16, bfloat16 or float64", name, t);
  return t.dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
}

void Planes::lay_out(const Tensor& t, size_t spatial) {
  base_ = t.bytes();
  size_ = static_cast<int64_t>(size_of(t.dtype));
  // Two-dimensional images get a depth of 1, so that kernels know three axes only.
  for (size_t i = 0; i < spatial; ++i) {
    shape_[3 - spatial + i] = t.shape[t.rank() - spatial + i];
    strides_[3 - spatial + i] = t.strides[t.rank() - spatial + i];
  }
  plane_ = shape_[0] * shape_[1] * shape_[2];
  const size_t channel = t.rank() - spatial - 1;
  channels_ = t.shape[channel];
  channel_stride_ = t.strides[channel];
  // Without a batch axis there is one batch.
  batch_ = channel > 0 ? t.shape[0] : 1;
  batch_stride_ = channel > 0 ? t.strides[0] : 0;
  groups_ = (channels_ + lanes_ - 1) / lanes_;
}

Planes::Planes(const Tensor& t, size_t spatial, DType slot, int64_t lanes, bool flat)
    : Planes(t, spatial, slot, lanes, converter(t.dtype, slot), converter(slot, t.dtype)) {
  const bool wide = lanes_ > 1;
  const int64_t pixel = strides_[2];
  // Depth and height of size 1 may have any stride: they are never walked.
  bool in_order = wide || pixel == 1 || plane_ == 1;
  if (flat && shape_[1] > 1) in_order &= strides_[1] == shape_[2] * pixel;
  if (flat && shape_[0] > 1) in_order &= strides_[0] == shape_[1] * strides_[1] && shape_[1] > 1;
  direct_ = t.dtype == slot && (!wide || channel_stride_ == 1) && (!flat || in_order);
}

Planes::Planes(const Tensor& t, size_t spatial, DType slot, int64_t lanes, Convert load, Convert store)
    : load_(load), store_(store), slot_size_(static_cast<int64_t>(size_of(slot))), lanes_(lanes) {
  require(load_ != nullptr && store_ != nullptr, "no kernel computes {} in {}; cast the tensor first", t.dtype, slot);
  lay_out(t, spatial);
}

std::byte* Planes::first(int64_t part) const {
  return base_ + (part / groups_ * batch_stride_ + part % groups_ * lanes_ * channel_stride_) * size_;
}

PlaneView Planes::view(int64_t part, std::byte* buffer) const {
  if (direct_) return {first(part), strides_[0], strides_[1], strides_[2]};
  const int64_t pixel = lanes(part);
  return {buffer, shape_[1] * shape_[2] * pixel, shape_[2] * pixel, pixel};
}

// Calls body(element in memory, its stride there, element in the buffer, its stride there, count) for runs that cover
// the part: along channels where they are neighbours, else along the width.
template <class F>
void Planes::each_run(int64_t part, F&& body) const {
  const std::byte* base = first(part);
  const int64_t width = lanes(part);
  for (int64_t row = 0; row < shape_[0] * shape_[1]; ++row) {
    // The buffer is dense, with the lanes of an element side by side.
    const int64_t from = row / shape_[1] * strides_[0] + row % shape_[1] * strides_[1];
    const int64_t to = row * shape_[2] * width;
    if (width > 1 && channel_stride_ == 1) {
      for (int64_t x = 0; x < shape_[2]; ++x) {
        body(base + (from + x * strides_[2]) * size_, 1, (to + x * width) * slot_size_, 1, width);
      }
      continue;
    }
    for (int64_t lane = 0; lane < width; ++lane) {
      body(base + (from + lane * channel_stride_) * size_, strides_[2], (to + lane) * slot_size_, width, shape_[2]);
    }
  }
}

PlaneView Planes::load(int64_t part, std::byte* buffer) const {
  if (!direct_) {
    each_run(part, [&](const std::byte* memory, int64_t stride, int64_t at, int64_t step, int64_t count) {
      load_(memory, stride, buffer + at, step, count);
    });
  }
  return view(part, buffer);
}

PlaneView Planes::target(int64_t part, std::byte* buffer) const { return view(part, buffer); }

void Planes::store(int64_t part, const std::byte* buffer) const {
  if (direct_) return;
  each_run(part, [&](const std::byte* memory, int64_t stride, int64_t at, int64_t step, int64_t count) {
    store_(buffer + at, step, const_cast<std::byte*>(memory), stride, count);
  });
}

}  // namespace npu::ops
