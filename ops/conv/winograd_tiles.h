// SPDX-License-Identifier: Apache-2.0
// The tiles of convolutions by Winograd's F(2x2, 3x3): which pixels they read and give. A filter of 5x5 taps is four of
// 3x3, whose products are added before the way back: those of 2 taps need three of four points, so 49 multiplications
// take the place of 100.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "ops/conv/kernel.h"
#include "ops/conv/winograd_kernel.h"

namespace npu::ops {

/// Some of the taps of a filter, at most 3x3: from which on, and how many.
struct WinogradTaps {
  int64_t y, x, high, wide;
  /// Whether a point of them is zero.
  bool lacks(int64_t point) const { return (high < 3 && point / 4 == 3) || (wide < 3 && point % 4 == 3); }
};
/// All taps; the first ones lack no point.
std::vector<WinogradTaps> winograd_taps_of(const cube::ConvShape& shape);

/// Tiles of all images, one after the other: each gives 2x2 pixels of the result and reads 4x4 of the images.
class WinogradTiles {
 public:
  explicit WinogradTiles(const cube::ConvShape& shape);

  int64_t count() const { return shape_.n * high_ * wide_; }
  /// Of a line of tiles, those from `tile` on.
  int64_t left_in_line(int64_t tile) const { return wide_ - tile % wide_; }

  struct Place {
    int64_t image, y, x;  ///< of the tile's first pixel of the result
  };
  Place place_of(int64_t tile) const { return {tile / (high_ * wide_), tile / wide_ % high_ * 2, tile % wide_ * 2}; }

  /// The points of what a tile reads with these taps, of some channels. `zeros` are so many.
  void spread(const float* images, int64_t tile, const WinogradTaps& taps, int64_t channel, int64_t channels,
              const float* zeros, const WinogradPoints& to) const;

  /// Where the pixels of the result that a tile gives lie, `channels` numbers each; `beyond` for those outside of it.
  template <class T>
  std::array<T*, 4> pixels(T* result, int64_t tile, T* beyond) const {
    const Place p = place_of(tile);
    std::array<T*, 4> out;
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t y = p.y + k / 2, x = p.x + k % 2;
      const bool inside = y < shape_.out[cube::kY] && x < shape_.out[cube::kX];
      out[static_cast<size_t>(k)] = inside ? result + pixel_at(p.image, y, x) * shape_.o : beyond;
    }
    return out;
  }
  /// The number of a pixel of the result.
  int64_t pixel_at(int64_t image, int64_t y, int64_t x) const {
    return (image * shape_.out[cube::kY] + y) * shape_.out[cube::kX] + x;
  }

 private:
  cube::ConvShape shape_;
  int64_t high_, wide_;  ///< tiles of an image
};

/// What one part computes at a time, of tiles, of inputs and of outputs: 16 matrices of a side of this each, the two
/// that are multiplied and the sums, lie in the second-level cache together.
inline constexpr int64_t kWinogradBlock = 64;
/// Channels come in whole vectors.
inline constexpr int64_t kWinogradVector = 16;

/// `count` numbers (or panels) cut into as few blocks as there are of `most`, all of about one size.
struct WinogradCut {
  int64_t count, blocks, unit;
  /// Blocks are whole units but for the last one.
  WinogradCut(int64_t of, int64_t most, int64_t whole) : count(of), blocks((of + most - 1) / most), unit(whole) {}
  int64_t begin(int64_t block) const { return std::min(count, (count * block / blocks + unit - 1) / unit * unit); }
  int64_t size(int64_t block) const { return begin(block + 1) - begin(block); }
};

/// Multiply-adds that pay for another part.
inline constexpr int64_t kWinogradPartWork = 1 << 21;
/// Multiply-adds of a convolution below which the ways there and back cost more than they save.
inline constexpr int64_t kWinogradLeastWork = 8 << 20;

/// The gradient of weights, or null where tiles are so few that other ways err less.
std::unique_ptr<ConvKernel> make_winograd_weights(const cube::ConvShape& shape, const ConvTensors& tensors);

}  // namespace npu::ops
