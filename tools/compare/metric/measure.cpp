// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/metric/measure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/thread_pool.h"

namespace npu::compare {
namespace {

constexpr size_t kBlock = 2048;                // elements: both sides of one stay in the first cache
constexpr uint64_t kPart = uint64_t{1} << 19;  // elements that one thread takes at a time

/// Sums what `block(x, y, count)` gives over all blocks; parts are added in their order, whoever did them.
template <class Result, class Block>
Result over_blocks(const View& x, const View& y, uint64_t count, Block&& block) {
  std::vector<Result> parts((count + kPart - 1) / kPart);
  parallel_parts(static_cast<int64_t>(parts.size()), [&](int64_t part) {
    alignas(64) float a[kBlock], b[kBlock];
    const uint64_t begin = static_cast<uint64_t>(part) * kPart, end = std::min(begin + kPart, count);
    for (uint64_t at = begin; at < end; at += kBlock) {
      const size_t n = std::min<uint64_t>(kBlock, end - at);
      x.read(at, n, a), y.read(at, n, b);
      parts[static_cast<size_t>(part)].add(block(a, b, n));
    }
    x.forget(begin, end - begin), y.forget(begin, end - begin);
  });
  Result all;
  for (const Result& part : parts) all.add(part);
  return all;
}

/// 1 / (high - low); 1 where all elements are equal, which are then not scaled.
void set_scale(float low, float high, float& offset, float& scale) {
  const float range = high - low;
  if (range == 0) return;
  offset = low, scale = 1 / range;
}

Scale scale_of(const Sums& sums, uint64_t count) {
  Scale scale;
  set_scale(sums.min_x, sums.max_x, scale.low_x, scale.scale_x);
  set_scale(sums.min_y, sums.max_y, scale.low_y, scale.scale_y);
  const auto n = static_cast<double>(count);
  scale.mean_x = sums.x / n, scale.mean_y = sums.y / n;
  return scale;
}

}  // namespace

Measured measure(const View& x, const View& y, uint64_t count, bool second_pass) {
  Measured found{count, over_blocks<Sums>(x, y, count, sums_of), {}};
  if (!second_pass || count == 0 || !std::isfinite(found.sums.xx + found.sums.yy)) return found;
  const Scale scale = scale_of(found.sums, count);
  found.spread = over_blocks<Spread>(
      x, y, count, [&](const float* a, const float* b, size_t n) { return spread_of(a, b, n, scale); });
  return found;
}

}  // namespace npu::compare
