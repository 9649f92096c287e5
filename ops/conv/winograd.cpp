// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions with weights that stay, by Winograd's F(2x2, 3x3): 16 products of matrices with 4/9 of the
// multiplications. A part transforms some tiles of the images, multiplies them with some columns of the weights while
// both lie in the second-level cache, and transforms them back. What the transforms lose the shorter sums gain: errors
// are no larger than those of one sum of all products.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/conv/kernel.h"
#include "ops/conv/winograd_kernel.h"
#include "ops/kept.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

using cube::ConvPass;
using cube::ConvShape;
using cube::OnednnMatmul;

constexpr int64_t kVector = 16;      // channels are whole vectors
constexpr int64_t kLeastTiles = 24;  // fewer are a reading of the weights, of which there are 16/9 as many
constexpr int64_t kNear = 1 << 20;   // bytes of a part: the second-level cache
constexpr int64_t kParts = 8;
constexpr int64_t kLeastWork = 1 << 17;                 // multiply-adds of one product, of which a part has 16
constexpr int64_t kLeastColumns = 64, kLeastRows = 16;  // of a product
constexpr int64_t kLine = 16;  // numbers between two points, which else met in one set of the cache

/// How the work is cut: tiles of all images, one after the other, and columns of the weights.
struct Cut {
  int64_t tile_parts = 1, columns = 0;
};

Cut cut_of(int64_t tiles, int64_t channels, int64_t outputs) {
  Cut cut{1, outputs};
  const auto bytes = [&] { return divide_up(tiles, cut.tile_parts) * kWinogradPoints * 4 * (channels + cut.columns); };
  while (bytes() > kNear && tiles / cut.tile_parts > kLeastRows) cut.tile_parts *= 2;
  const auto parts = [&] { return cut.tile_parts * (outputs / cut.columns); };
  const auto pays = [&] { return parts() < kParts && tiles * channels * outputs / (2 * parts()) >= kLeastWork; };
  while (pays() && cut.columns % (2 * kVector) == 0 && cut.columns / 2 >= kLeastColumns) cut.columns /= 2;
  while (pays() && tiles / (2 * cut.tile_parts) >= kLeastRows) cut.tile_parts *= 2;
  return cut;
}

class Winograd final : public ConvKernel {
 public:
  explicit Winograd(const ConvShape& shape)
      : s_(shape),
        high_(divide_up(s_.out[1], 2)),
        wide_(divide_up(s_.out[2], 2)),
        tiles_(s_.n * high_ * wide_),
        cut_(cut_of(tiles_, s_.c, s_.o)) {
    for (int64_t i = 0; i < cut_.tile_parts; ++i) {
      const int64_t rows = begin_of(i + 1) - begin_of(i);
      kernels_.push_back(OnednnMatmul::get(
          {DType::kFloat, false, false, rows, cut_.columns, s_.c, s_.c, s_.o, DType::kFloat, /*ordered=*/true}));
    }
  }
  bool usable() const {
    return std::ranges::all_of(kernels_, [&](const auto& kernel) {
      return kernel != nullptr && kernels_[0] != nullptr && kernel->same_right(*kernels_[0]);
    });
  }
  void run(const ConvTensors& t, const Chain* after) const override {
    const std::byte* points = right_.of(t.weight.bytes(), blocks() * kWinogradPoints * right_bytes(),
                                        [&](std::byte* to) { order_weights(t.weight, to); });
    const bool pieces = after != nullptr && after->by_pieces();
    parallel_parts(cut_.tile_parts * blocks(), [&](int64_t part) {
      const int64_t rows = part % cut_.tile_parts, block = part / cut_.tile_parts;
      run_part(t, points + block * kWinogradPoints * right_bytes(), rows, block * cut_.columns);
      if (pieces) finish_part(rows, block * cut_.columns, *after);
    });
    if (after != nullptr && !pieces) after->run();
  }

 private:
  struct Place {
    int64_t image, y, x;  ///< of the tile's first pixel of the result
  };
  int64_t begin_of(int64_t part) const { return tiles_ * part / cut_.tile_parts; }
  int64_t blocks() const { return s_.o / cut_.columns; }
  int64_t right_bytes() const { return round_up(static_cast<int64_t>(kernels_[0]->right_bytes()), 64); }
  Place place_of(int64_t tile) const { return {tile / (high_ * wide_), tile / wide_ % high_ * 2, tile % wide_ * 2}; }

  /// Every point of all filters as a matrix [c, o], in the order of the kernels.
  void order_weights(const Tensor& weight, std::byte* to) const {
    const Scratch<float> dense(s_.o * s_.c * 9), points(kWinogradPoints * s_.c * s_.o);
    to_dense(weight, DType::kFloat, dense.data());
    parallel_for(s_.c, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * s_.o; i < end * s_.o; ++i) {
        const int64_t c = i / s_.o, o = i % s_.o;
        float of[kWinogradPoints];
        winograd_filter(dense + (o * s_.c + c) * 9, of);
        for (int64_t f = 0; f < kWinogradPoints; ++f) points[f * s_.c * s_.o + i] = of[f];
      }
    });
    parallel_for(blocks() * kWinogradPoints, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* matrix = points + i % kWinogradPoints * s_.c * s_.o + i / kWinogradPoints * cut_.columns;
        kernels_[0]->order_right(matrix, to + i * right_bytes());
      }
    });
  }

  void run_part(const ConvTensors& t, const std::byte* right, int64_t part, int64_t column) const {
    const int64_t begin = begin_of(part), count = begin_of(part + 1) - begin;
    const int64_t left_step = count * s_.c + kLine, product_step = count * cut_.columns + kLine;
    const Scratch<float> left(kWinogradPoints * left_step), product(kWinogradPoints * product_step);
    const Scratch<float> patch(16 * s_.c), spare(cut_.columns);
    const auto* src = t.src.as<float>();
    auto* dst = t.dst.as<float>() + column;
    const float* bias = t.bias.defined() ? t.bias.as<float>() + column : nullptr;
    for (int64_t i = 0; i < count; ++i) spread_tile(src, begin + i, patch, left + i * s_.c, left_step);
    for (int64_t f = 0; f < kWinogradPoints; ++f)
      kernels_[static_cast<size_t>(part)]->run(left + f * left_step, right + f * right_bytes(),
                                               product + f * product_step);
    for (int64_t i = 0; i < count; ++i) {
      const Place p = place_of(begin + i);
      float* pixel[4];
      for (int64_t k = 0; k < 4; ++k) pixel[k] = pixel_of(dst, p, k / 2, k % 2, spare);
      winograd_output(product + i * cut_.columns, product_step, cut_.columns, bias, pixel);
    }
  }

  void spread_tile(const float* src, int64_t tile, float* patch, float* to, int64_t step) const {
    const Place p = place_of(tile);
    const int64_t y = p.y - s_.pad[1], x = p.x - s_.pad[2], line = s_.in[2] * s_.c;
    const float* image = src + p.image * s_.in[1] * line;
    if (y >= 0 && x >= 0 && y + 4 <= s_.in[1] && x + 4 <= s_.in[2])
      return winograd_input(image + y * line + x * s_.c, line, s_.c, to, step);
    // At an edge: with the zeros around the image.
    std::memset(patch, 0, static_cast<size_t>(16 * s_.c) * sizeof(float));
    const int64_t first = std::max<int64_t>(0, -x), end = std::min<int64_t>(4, s_.in[2] - x);
    for (int64_t i = 0; i < 4; ++i) {
      if (y + i < 0 || y + i >= s_.in[1] || end <= first) continue;
      std::memcpy(patch + (4 * i + first) * s_.c, image + (y + i) * line + (x + first) * s_.c,
                  static_cast<size_t>((end - first) * s_.c) * sizeof(float));
    }
    winograd_input(patch, 4 * s_.c, s_.c, to, step);
  }

  /// Where a pixel of a tile belongs; `spare` takes what lies beyond the last line or column.
  float* pixel_of(float* dst, const Place& p, int64_t down, int64_t right, float* spare) const {
    const int64_t y = p.y + down, x = p.x + right;
    return y < s_.out[1] && x < s_.out[2] ? dst + ((p.image * s_.out[1] + y) * s_.out[2] + x) * s_.o : spare;
  }

  /// Line by line of the pixels that the part has computed.
  void finish_part(int64_t part, int64_t column, const Chain& after) const {
    for (int64_t tile = begin_of(part); tile < begin_of(part + 1);) {
      const Place p = place_of(tile);
      const int64_t tiles = std::min(begin_of(part + 1) - tile, wide_ - p.x / 2);
      const int64_t pixels = std::min(2 * tiles, s_.out[2] - p.x);
      for (int64_t y = p.y; y < std::min(p.y + 2, s_.out[1]); ++y)
        after.run_piece(((p.image * s_.out[1] + y) * s_.out[2] + p.x) * s_.o + column, pixels, s_.o, cut_.columns);
      tile += tiles;
    }
  }

  ConvShape s_;
  int64_t high_, wide_, tiles_;  ///< tiles of an image, and of all
  Cut cut_;
  std::vector<std::shared_ptr<const OnednnMatmul>> kernels_;  ///< by part of tiles
  mutable Kept right_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_winograd_conv(ConvPass pass, const ConvShape& s, const ConvTensors& t) {
  const cube::Spatial one{1, 1, 1};
  const bool fits = s.groups == 1 && s.kernel == cube::Spatial{1, 3, 3} && s.stride == one && s.dilation == one &&
                    s.in[0] == 1 && s.pad[0] == 0 && s.c % kVector == 0 && s.o % kVector == 0 && s.o > 0;
  if (!fits || !kept_ways_win(pass, s, t)) return nullptr;
  const bool plain = !t.bias.defined() || (t.bias.dtype == DType::kFloat && t.bias.contiguous());
  const int64_t tiles = s.n * divide_up(s.out[1], 2) * divide_up(s.out[2], 2);
  if (!plain || tiles < kLeastTiles || tiles * s.c * s.o < 2 * kLeastWork) return nullptr;
  auto made = std::make_unique<Winograd>(s);
  return made->usable() ? std::move(made) : nullptr;
}

}  // namespace npu::ops
