// SPDX-License-Identifier: Apache-2.0
// Convolutions of 3x3 and 5x5 and the gradients of their images by Winograd's F(2x2, 3x3): 16 products of matrices with
// about half of the multiplications. A part transforms some tiles of the images, multiplies them with some columns of
// the weights, some channels at a time, while all of that lies in the second-level cache, and transforms the sums back.
// What the transforms lose the shorter sums gain: errors are no larger than those of one sum of all products.
#include <algorithm>
#include <utility>

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/conv/winograd_tiles.h"
#include "ops/cube/channels_last.h"
#include "ops/cube/kernel.h"
#include "ops/kept.h"
#include "ops/scratch.h"
#include "ops/vector/elementwise/transpose.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;
using cube::kX;
using cube::kY;

constexpr int64_t kLeastTiles = 24;  // fewer are a reading of the weights, of which there are 16/9 as many
constexpr int64_t kParts = 8;        // a constant: bits do not follow threads
constexpr int64_t kLeastBlock = 16;  // tiles of a part
constexpr int64_t kLine = 16;        // numbers between two points, which else met in one set of the cache

/// How the tiles are cut: no block larger than the cache takes, and smaller ones where that gives too few parts.
WinogradCut cut_of(int64_t tiles, int64_t channels, int64_t outputs, int64_t most) {
  const int64_t columns = divide_up(outputs, kWinogradBlock);
  const auto parts = [&](int64_t block) { return divide_up(tiles, block) * columns; };
  int64_t block = kWinogradBlock;
  const int64_t work = kWinogradPoints * tiles * channels * outputs;
  while (block > kLeastBlock && parts(block) < most && work >= 2 * parts(block) * kWinogradPartWork) block /= 2;
  return {tiles, block, 1};
}

/// The gradient of images is a convolution of that of the result, with the filters turned around.
ConvShape turned(const ConvShape& s) {
  ConvShape out = s;
  std::swap(out.c, out.o), std::swap(out.in, out.out);
  for (const size_t axis : {kY, kX}) out.pad[axis] = s.kernel[axis] - 1 - s.pad[axis];
  return out;
}

class WinogradImages final : public ConvKernel {
 public:
  WinogradImages(const ConvShape& shape, ConvPass pass)
      : forward_(pass == ConvPass::kForward),
        s_(forward_ ? shape : turned(shape)),
        tiles_(s_),
        taps_(winograd_taps_of(s_)),
        blocks_(cut_of(tiles_.count(), s_.c, s_.o, conv_parts("winograd", pass, shape, DType::kFloat, kParts))),
        columns_(s_.o, kWinogradBlock, kWinogradVector) {}

  void run(const ConvTensors& t, const Chain* after) const override {
    // One block of tiles: each part makes the points that it alone needs, while they are near.
    const bool near = !t.kept_weight && blocks_.blocks == 1;
    const int64_t numbers = near ? 0 : static_cast<int64_t>(taps_.size()) * filter_points();
    const Scratch<float> room(t.kept_weight ? 0 : numbers);
    if (!t.kept_weight && !near) order_weights(t.weight, room);
    const float* points = t.kept_weight ? kept_points(t.weight, numbers) : near ? nullptr : room.data();
    const bool pieces = after != nullptr && after->by_pieces();
    parallel_parts(blocks_.blocks * columns_.blocks, [&](int64_t part) {
      const int64_t block = part % blocks_.blocks, columns = part / blocks_.blocks;
      run_part(t, points, block, columns);
      if (pieces) finish_part(block, columns, *after);
    });
    if (after != nullptr && !pieces) after->run();
  }

 private:
  /// Numbers of all filters' points, of some taps.
  int64_t filter_points() const { return kWinogradPoints * s_.c * s_.o; }

  const float* kept_points(const Tensor& weight, int64_t numbers) const {
    return reinterpret_cast<const float*>(
        kept_.of(weight.bytes(), numbers * static_cast<int64_t>(sizeof(float)),
                 [&](std::byte* to) { order_weights(weight, reinterpret_cast<float*>(to)); }));
  }

  void order_weights(const Tensor& weight, float* to) const {
    const int64_t bands = s_.c / kWinogradVector;
    parallel_parts(static_cast<int64_t>(taps_.size()) * bands, [&](int64_t part) {
      const int64_t row = part % bands * kWinogradVector, i = part / bands;
      for (int64_t block = 0; block < columns_.blocks; ++block) {
        const int64_t column = columns_.begin(block), wide = columns_.size(block);
        float* points = to + i * filter_points() + kWinogradPoints * s_.c * column;
        order_rows(weight, taps_[static_cast<size_t>(i)], row, column, wide, {points + row * wide, s_.c * wide});
      }
    });
  }

  /// 16 rows, what is summed over, of the matrices that the points of some columns are.
  void order_rows(const Tensor& weight, const WinogradTaps& taps, int64_t row, int64_t column, int64_t wide,
                  const WinogradPoints& points) const {
    const int64_t count = kWinogradVector * wide;
    const Scratch<float> rows(9 * count);
    for (int64_t tap = 0; tap < 9; ++tap)
      take_tap(weight, taps, tap / 3, tap % 3, row, column, wide, rows + tap * count);
    winograd_filter(rows, count, count, points);
  }

  void take_tap(const Tensor& weight, const WinogradTaps& taps, int64_t down, int64_t right, int64_t row,
                int64_t column, int64_t wide, float* to) const {
    if (down >= taps.high || right >= taps.wide) return std::fill_n(to, kWinogradVector * wide, 0.0f), void();
    const int64_t y = forward_ ? taps.y + down : s_.kernel[kY] - 1 - taps.y - down;
    const int64_t x = forward_ ? taps.x + right : s_.kernel[kX] - 1 - taps.x - right;
    const int64_t row_step = weight.strides[forward_ ? 1 : 0], step = weight.strides[forward_ ? 0 : 1];
    const float* from =
        weight.as<float>() + row * row_step + column * step + y * weight.strides[2] + x * weight.strides[3];
    if (row_step == 1) return transpose(from, step, wide, kWinogradVector, sizeof(float), to, wide);
    for (int64_t r = 0; r < kWinogradVector; ++r, from += row_step, to += wide) {
      if (step == 1) {
        std::copy_n(from, wide, to);
      } else {
        for (int64_t c = 0; c < wide; ++c) to[c] = from[c * step];
      }
    }
  }

  /// `points` of all filters, or null where the part makes those that it needs.
  void run_part(const ConvTensors& t, const float* points, int64_t block, int64_t columns) const {
    const int64_t begin = blocks_.begin(block), count = blocks_.size(block);
    const int64_t column = columns_.begin(columns), wide = columns_.size(columns);
    const int64_t depth = std::min(s_.c, kWinogradBlock), left_step = count * depth + kLine;
    const int64_t product_step = count * wide + kLine;
    const Scratch<float> left(kWinogradPoints * left_step), product(kWinogradPoints * product_step);
    const Scratch<float> right(points == nullptr ? kWinogradPoints * depth * wide : 0);
    const Scratch<float> zeros(depth), spare(wide);
    std::fill_n(zeros.data(), depth, 0.0f);
    const auto* src = (forward_ ? t.src : t.dst).as<float>();
    for (size_t tap = 0; tap < taps_.size(); ++tap) {
      const WinogradTaps& taps = taps_[tap];
      for (int64_t c = 0; c < s_.c; c += depth) {
        const int64_t deep = std::min(depth, s_.c - c);
        for (int64_t i = 0; i < count; ++i)
          tiles_.spread(src, begin + i, taps, c, deep, zeros, {left + i * deep, left_step});
        const int64_t right_step = (points == nullptr ? deep : s_.c) * wide;
        for (int64_t r = 0; points == nullptr && r < deep; r += kWinogradVector)
          order_rows(t.weight, taps, c + r, column, wide, {right + r * wide, right_step});
        const float* first = points == nullptr ? right.data()
                                               : points + static_cast<int64_t>(tap) * filter_points() +
                                                     kWinogradPoints * s_.c * column + c * wide;
        for (int64_t f = 0; f < kWinogradPoints; ++f) {
          if (taps.lacks(f)) continue;
          cube::kernel_small({.m = count,
                              .n = wide,
                              .k = deep,
                              .a = left + f * left_step,
                              .lda = deep,
                              .b = first + f * right_step,
                              .ldb = wide,
                              .beta = tap > 0 || c > 0 ? 1.0f : 0.0f,
                              .c = product + f * product_step,
                              .ldc = wide});
        }
      }
    }
    auto* dst = (forward_ ? t.dst : t.src).as<float>() + column;
    const float* bias = forward_ && t.bias.defined() ? t.bias.as<float>() + column : nullptr;
    for (int64_t i = 0; i < count; ++i) {
      const auto pixels = tiles_.pixels(dst, begin + i, spare.data());
      winograd_output(product + i * wide, product_step, wide, bias, pixels.data());
    }
  }

  /// Line by line of the pixels that the part has computed.
  void finish_part(int64_t block, int64_t columns, const Chain& after) const {
    const int64_t end = blocks_.begin(block + 1);
    for (int64_t tile = blocks_.begin(block); tile < end;) {
      const auto p = tiles_.place_of(tile);
      const int64_t tiles = std::min(end - tile, tiles_.left_in_line(tile));
      const int64_t pixels = std::min(2 * tiles, s_.out[kX] - p.x);
      for (int64_t y = p.y; y < std::min(p.y + 2, s_.out[kY]); ++y)
        after.run_piece(tiles_.pixel_at(p.image, y, p.x) * s_.o + columns_.begin(columns), pixels, s_.o,
                        columns_.size(columns));
      tile += tiles;
    }
  }

  bool forward_;
  ConvShape s_;  ///< of the convolution that is computed: from `src` to `dst` or the way back
  WinogradTiles tiles_;
  std::vector<WinogradTaps> taps_;
  WinogradCut blocks_, columns_;
  mutable Kept kept_;
};

/// Whether tiles can give this: 3 or 5 taps, one by one, of whole panels of float32 channels that lie last.
bool has_tiles(const ConvShape& s, const ConvTensors& t) {
  const cube::Spatial one{1, 1, 1};
  const auto taps = [&](size_t axis) { return s.kernel[axis] == 3 || s.kernel[axis] == 5; };
  const auto fits = [](const Tensor& images) {
    return images.dtype == DType::kFloat && cube::is_channels_last(images);
  };
  return s.groups == 1 && s.rank == 2 && taps(kY) && taps(kX) && s.stride == one && s.dilation == one &&
         s.c % kWinogradVector == 0 && s.o % kWinogradVector == 0 && s.work() > 0 && t.weight.dtype == DType::kFloat &&
         fits(t.src) && fits(t.dst);
}

}  // namespace

std::unique_ptr<ConvKernel> make_winograd_conv(ConvPass pass, const ConvShape& s, const ConvTensors& t) {
  if (!has_tiles(s, t)) return nullptr;
  if (pass == ConvPass::kBackwardWeights) return make_winograd_weights(s, t);
  const bool plain = !t.bias.defined() || (t.bias.dtype == DType::kFloat && t.bias.contiguous());
  auto made = std::make_unique<WinogradImages>(s, pass);
  const int64_t tiles = WinogradTiles(pass == ConvPass::kForward ? s : turned(s)).count();
  if (!plain || tiles < kLeastTiles || s.work() < kWinogradLeastWork) return nullptr;
  return made;
}

}  // namespace npu::ops
