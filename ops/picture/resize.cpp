// SPDX-License-Identifier: Apache-2.0
#include "ops/picture/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"

namespace npu::ops {
namespace {

constexpr int32_t kOne = 1 << 11;  // the weight 1

/// The two elements that make one, and the weight of the second.
struct Tap {
  int64_t first, second;
  int32_t weight;
};

std::vector<Tap> taps_of(int64_t from, int64_t to, Interpolation interpolation) {
  std::vector<Tap> taps(static_cast<size_t>(to));
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i) {
    if (interpolation == Interpolation::kNearest) {
      const auto at = std::min(from - 1, static_cast<int64_t>(std::floor(static_cast<double>(i) * scale)));
      taps[static_cast<size_t>(i)] = {at, at, 0};
      continue;
    }
    const double at = std::max(0.0, (static_cast<double>(i) + 0.5) * scale - 0.5);
    const auto first = std::min(from - 1, static_cast<int64_t>(at));
    const auto weight = static_cast<int32_t>(std::lround((at - static_cast<double>(first)) * kOne));
    taps[static_cast<size_t>(i)] = {first, std::min(first + 1, from - 1), std::min(weight, kOne)};
  }
  return taps;
}

/// Rows in parallel, about as many at a time as pay.
template <class F>
void each_row(const Plane& to, F&& body) {
  parallel_for(to.height, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, to.width)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t y = begin; y < end; ++y) body(y);
               });
}

void copy_plane(const Plane& from, const Plane& to) {
  each_row(to, [&](int64_t y) {
    const uint8_t* in = from.at(0, y);
    uint8_t* out = to.at(0, y);
    if (from.step == 1 && to.step == 1) {
      std::memcpy(out, in, static_cast<size_t>(to.width));
      return;
    }
    for (int64_t x = 0; x < to.width; ++x) out[x * to.step] = in[x * from.step];
  });
}

}  // namespace

void resize_plane(const Plane& from, const Plane& to, Interpolation interpolation) {
  if (from.width == to.width && from.height == to.height) return copy_plane(from, to);
  const std::vector<Tap> across = taps_of(from.width, to.width, interpolation);
  const std::vector<Tap> down = taps_of(from.height, to.height, interpolation);
  each_row(to, [&](int64_t y) {
    const Tap& v = down[static_cast<size_t>(y)];
    const uint8_t *upper = from.at(0, v.first), *lower = from.at(0, v.second);
    uint8_t* out = to.at(0, y);
    for (const Tap& h : across) {
      const int64_t a = h.first * from.step, b = h.second * from.step;
      const int32_t top = upper[a] * (kOne - h.weight) + upper[b] * h.weight;
      const int32_t bottom = lower[a] * (kOne - h.weight) + lower[b] * h.weight;
      // 8 + 11 + 11 bits: the sum fits 32 of them.
      const int32_t sum = top * (kOne - v.weight) + bottom * v.weight;
      *out = static_cast<uint8_t>((sum + kOne * kOne / 2) >> 22);
      out += to.step;
    }
  });
}

void shrink_plane(const Plane& from, const Plane& to) {
  const int64_t across = from.width / to.width, down = from.height / to.height;
  if (across == 1 && down == 1) return copy_plane(from, to);
  const auto count = static_cast<int32_t>(across * down);
  each_row(to, [&](int64_t y) {
    for (int64_t x = 0; x < to.width; ++x) {
      int32_t sum = count / 2;
      for (int64_t j = 0; j < down; ++j)
        for (int64_t i = 0; i < across; ++i) sum += *from.at(x * across + i, y * down + j);
      *to.at(x, y) = static_cast<uint8_t>(sum / count);
    }
  });
}

void fill_plane(const Plane& plane, uint8_t value) {
  each_row(plane, [&](int64_t y) {
    for (int64_t x = 0; x < plane.width; ++x) *plane.at(x, y) = value;
  });
}

}  // namespace npu::ops
