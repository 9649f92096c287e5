// SPDX-License-Identifier: Apache-2.0
// Sums are of int32: weights of one output add up to about 2^shift <= 2^22, times a byte.
#include "ops/image/resample_bytes.h"

#include <algorithm>
#include <cmath>

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/image/resample_bytes.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {

HWY_INLINE uint8_t to_byte(int32_t sum, int shift) { return static_cast<uint8_t>(std::clamp(sum >> shift, 0, 255)); }
// Half of the divisor: the shift then rounds to the nearest.
HWY_INLINE int32_t half_of(int shift) { return shift == 0 ? 0 : 1 << (shift - 1); }

void resize_row(const ByteAxis& x, const uint8_t* row, int64_t pixel, int64_t lanes, uint8_t* to) {
  const int32_t* weight = x.weight.data();
  for (int64_t o = 0; o < x.out; ++o, weight += x.taps, to += lanes) {
    const uint8_t* from = row + x.first[static_cast<size_t>(o)] * pixel;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int32_t sum = half_of(x.shift);
      for (int64_t k = 0; k < x.taps; ++k) sum += weight[k] * from[k * pixel + lane];
      to[lane] = to_byte(sum, x.shift);
    }
  }
}

// Output row o from the rows of `lines`, each `length` bytes long.
void resize_column(const ByteAxis& y, int64_t o, const uint8_t* lines, int64_t length, int32_t* sums) {
  std::fill_n(sums, length, half_of(y.shift));
  const int32_t* weight = y.weight.data() + o * y.taps;
  const uint8_t* line = lines + y.first[static_cast<size_t>(o)] * length;
  for (int64_t k = 0; k < y.taps; ++k, line += length) {
#pragma GCC ivdep
    for (int64_t i = 0; i < length; ++i) sums[i] += weight[k] * line[i];
  }
}

void resize_plane(const BytePart& part) {
  const ByteAxis &y = *part.height, &x = *part.width;
  const int64_t length = x.out * part.lanes;
  auto* sums = reinterpret_cast<int32_t*>(part.room);
  auto* lines = reinterpret_cast<uint8_t*>(sums + length);
  const auto* small = static_cast<const uint8_t*>(part.small.data);
  for (int64_t row = 0; row < y.in; ++row)
    resize_row(x, small + row * part.small.row, part.small.pixel, part.lanes, lines + row * length);
  for (int64_t o = 0; o < y.out; ++o) {
    resize_column(y, o, lines, length, sums);
    uint8_t* to = static_cast<uint8_t*>(part.large.data) + o * part.large.row;
    for (int64_t at = 0; at < x.out; ++at) {
      for (int64_t lane = 0; lane < part.lanes; ++lane)
        to[at * part.large.pixel + lane] = to_byte(sums[at * part.lanes + lane], y.shift);
    }
  }
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

// Of one output: input elements from `first` on, and their shares. Taps that fell on one element at the border are one.
struct Window {
  int64_t first = 0;
  std::vector<double> share;
};

Window window_of(const ResampleAxis& axis, int64_t o) {
  const auto begin = axis.index.begin() + o * axis.taps, end = begin + axis.taps;
  Window window{*std::min_element(begin, end), {}};
  window.share.resize(static_cast<size_t>(*std::max_element(begin, end) - window.first + 1));
  for (auto at = begin; at != end; ++at)
    window.share[static_cast<size_t>(*at - window.first)] += axis.weight[static_cast<size_t>(at - axis.index.begin())];
  return window;
}

// As many bits as the largest weight leaves in 16.
int shift_for(double largest) {
  int shift = 0;
  while (shift < 22 && static_cast<int64_t>(0.5 + std::ldexp(largest, shift + 1)) < 1 << 15) ++shift;
  return shift;
}

}  // namespace

ByteAxis byte_axis(const ResampleAxis& axis) {
  ByteAxis made{axis.in, axis.out, 1, {}, {}, 0};
  if (axis.in == axis.out) {
    for (int64_t o = 0; o < axis.out; ++o) made.first.push_back(o);
    made.weight.assign(static_cast<size_t>(axis.out), 1);
    return made;
  }
  std::vector<Window> windows;
  double largest = 0;
  for (int64_t o = 0; o < axis.out; ++o) {
    windows.push_back(window_of(axis, o));
    made.taps = std::max(made.taps, static_cast<int64_t>(windows.back().share.size()));
    for (const double share : windows.back().share) largest = std::max(largest, share);
  }
  made.shift = shift_for(largest);
  made.weight.assign(static_cast<size_t>(made.out * made.taps), 0);
  for (int64_t o = 0; o < made.out; ++o) {
    // Moved back from the border where the window would pass it: its first weights are then 0.
    const Window& window = windows[static_cast<size_t>(o)];
    made.first.push_back(std::min(window.first, axis.in - made.taps));
    int32_t* to = made.weight.data() + o * made.taps + (window.first - made.first.back());
    for (const double share : window.share) *to++ = static_cast<int32_t>(std::round(std::ldexp(share, made.shift)));
  }
  return made;
}

int64_t byte_room(const ByteAxis& height, const ByteAxis& width, int64_t lanes) {
  return width.out * lanes * (static_cast<int64_t>(sizeof(int32_t)) + height.in);
}

HWY_EXPORT(resize_plane);
void resize_bytes(const BytePart& part) { HWY_DYNAMIC_DISPATCH(resize_plane)(part); }

}  // namespace npu::ops
#endif
