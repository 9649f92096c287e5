// SPDX-License-Identifier: Apache-2.0
// A tensor as channels: sums over everything but one axis, and maps with coefficients per channel. This is the memory
// walk of batch normalisation. Sums are kept per part and joined in a fixed order, so bits do not depend on the number
// of threads; where a group of channels fits one part, its sums and its map run back to back while it is in cache.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ops/norm/channel_kernel.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {

class Channels {
 public:
  enum class Sums { kNone, kMoments, kProducts };
  enum class Map { kNone, kAffine, kGradient };
  /// Called once per range of channels when its sums are complete, from any thread: may fill coefficients.
  using Finish = std::function<void(int64_t begin, int64_t end, const ChannelSums* sums)>;

  /// `x` (and `g` and `out`, of x's shape, where not null) seen along `axis`. Raises 161002 when a dtype cannot be
  /// computed in `slot` or shapes differ.
  void plan(const Tensor& x, const Tensor* g, const Tensor* out, size_t axis, DType slot);

  /// Channels; elements in each.
  int64_t count() const { return channels_; }
  int64_t samples() const { return rest_.count(); }
  /// Sums of `sums` (products take `map.center`), `finish`, then `what` with `map`'s coefficients.
  void run(Sums sums, const Finish& finish, Map what, const ChannelMap& map) const;
  int64_t cost() const { return 500 + channels_ * samples(); }

 private:
  struct Side {
    Tensor tensor;
    Convert convert = nullptr;
    int64_t size = 0;
    int64_t stride = 0;  ///< between channels
    bool same = false;   ///< memory holds slot elements
  };
  using Staged = Scratch<std::byte>[3];  ///< what sides_ do not hold as the kernel wants it
  struct Range {
    int64_t channel, channel_end, begin, end;
  };
  void plan_parts();
  Range range(int64_t part) const;
  void sum_rows(const Range& r, Sums sums, const double* center, ChannelSums* into) const;
  void sum_columns(const Range& r, Sums sums, const double* center, ChannelSums* into) const;
  void map_rows(const Range& r, Map what, const ChannelMap& map) const;
  void map_columns(const Range& r, Map what, const ChannelMap& map) const;
  void sum(const Range& r, Sums sums, const double* center, ChannelSums* into) const;
  void map(const Range& r, Map what, const ChannelMap& map) const;
  void join(int64_t group, Sums sums, ChannelSums* partial) const;
  template <class F>
  void each_row(const Range& r, F&& body) const;
  template <class F>
  void each_block(const Range& r, F&& body) const;
  const std::byte* row(size_t k, const LoopCursor& at, int64_t channel, int64_t n, Staged& staged) const;
  const std::byte* block(size_t k, const LoopCursor& at, int64_t channel, int64_t rows, int64_t width, int64_t* step,
                         Staged& staged) const;

  const ChannelKernel* kernel_ = nullptr;
  Side sides_[3];  ///< x, g, out; undefined where absent
  Loop rest_;      ///< the other axes; operands as sides_
  int64_t channels_ = 0;
  int64_t slot_size_ = 0;
  bool by_columns_ = false;
  int64_t group_ = 1, groups_ = 0;  ///< channels of one part
  int64_t chunk_ = 0, chunks_ = 1;  ///< samples of one part
};

}  // namespace npu::ops
