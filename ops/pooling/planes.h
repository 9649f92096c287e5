// SPDX-License-Identifier: Apache-2.0
// A tensor [N, C, (D,) H, W] or [C, (D,) H, W] as planes that kernels read and write in a slot dtype. Where channels
// lie side by side in memory, planes come as bundles of neighbouring channels (lanes), so that loops run along memory
// in either layout.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "ops/pooling/window.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {

/// Element (z, y, x) of lane l is at data[z * slice + y * row + x * pixel + l], in slot elements.
struct PlaneView {
  void* data = nullptr;
  int64_t slice = 0, row = 0, pixel = 0;
};

/// How many lanes suit the layout of `t`: 1 unless channels are neighbours.
int64_t plane_lanes(const Tensor& t, size_t spatial);
/// The slot pooling computes `t` in. Raises 161002 for types that are not floating point.
DType pool_slot(const char* name, const Tensor& t);

class Planes {
 public:
  Planes() = default;
  /// Memory is used in place where it holds `slot` elements with lanes side by side, unless `flat` asks in addition
  /// that position p of a plane is at p * pixel. Raises 161002 when the dtype has no conversion.
  Planes(const Tensor& t, size_t spatial, DType slot, int64_t lanes, bool flat);
  /// As above with conversions of its own.
  Planes(const Tensor& t, size_t spatial, DType slot, int64_t lanes, Convert load, Convert store);

  int64_t parts() const { return batch_ * groups_; }
  /// Lanes of one part: fewer than asked for in the last channels.
  int64_t lanes(int64_t part) const { return std::min(lanes_, channels_ - part % groups_ * lanes_); }
  /// Bytes the buffer below must have, a multiple of a cache line.
  int64_t buffer_bytes() const { return direct_ ? 0 : (plane_ * lanes_ * slot_size_ + 63) / 64 * 64; }
  /// Elements of one plane.
  int64_t plane() const { return plane_; }

  PlaneView load(int64_t part, std::byte* buffer) const;
  /// Where to write a part; `store` then brings it home.
  PlaneView target(int64_t part, std::byte* buffer) const;
  void store(int64_t part, const std::byte* buffer) const;

 private:
  void lay_out(const Tensor& t, size_t spatial);
  std::byte* first(int64_t part) const;
  PlaneView view(int64_t part, std::byte* buffer) const;
  template <class F>
  void each_run(int64_t part, F&& body) const;

  std::byte* base_ = nullptr;
  Convert load_ = nullptr, store_ = nullptr;
  int64_t size_ = 0, slot_size_ = 0;
  int64_t batch_ = 1, channels_ = 1, groups_ = 0, lanes_ = 1, plane_ = 0;
  int64_t batch_stride_ = 0, channel_stride_ = 0;
  int64_t shape_[3] = {1, 1, 1};
  int64_t strides_[3] = {0, 0, 0};
  bool direct_ = false;
};

/// Calls body(part, buffer) for every part, in parallel, several small ones at a time; `buffer` holds `bytes` bytes.
template <class F>
void for_planes(const Planes& planes, int64_t bytes, F&& body) {
  const int64_t work = std::max<int64_t>(1, planes.plane() * planes.lanes(0));
  parallel_for(planes.parts(), std::max<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
    const Scratch<std::byte> buffer(bytes);
    for (int64_t part = begin; part < end; ++part) body(part, buffer.data());
  });
}

}  // namespace npu::ops
