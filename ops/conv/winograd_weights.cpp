// SPDX-License-Identifier: Apache-2.0
// Gradients of the weights of 3x3 and 5x5 convolutions by Winograd's F(2x2, 3x3) turned around: for each of 16 points a
// product, summed over tiles, of what the tiles read and what their results get. A part sums up some tiles for some
// inputs and outputs while all of that lies in the second-level cache; the sums of parts are added in their order.
#include <algorithm>

#include "base/division.h"
#include "base/thread_pool.h"
#include "ops/conv/winograd_tiles.h"
#include "ops/cube/kernel.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

using cube::ConvShape;

constexpr int64_t kParts = 8;         // a constant: bits do not follow threads
constexpr int64_t kLeastTiles = 128;  // of a part
// Fewer are sums so short that other ways round less: an error of 2.8e-07 of the root mean square, whatever the sums,
// against 1.4e-07 of 256 products in turn.
constexpr int64_t kFewTiles = 64;
constexpr int64_t kLine = 16;  // numbers between two points, which else met in one set of the cache

class WinogradWeights final : public ConvKernel {
 public:
  WinogradWeights(const ConvShape& shape, bool outputs_last)
      : s_(shape),
        tiles_(shape),
        taps_(winograd_taps_of(shape)),
        outputs_last_(outputs_last),
        rows_(outputs_last ? s_.c : s_.o, kWinogradBlock, kWinogradVector),
        columns_(outputs_last ? s_.o : s_.c, kWinogradBlock, kWinogradVector),
        ranges_(tiles_.count(), tiles_in_range(), 1) {}

  void run(const ConvTensors& t, const Chain*) const override {
    if (ranges_.blocks > 1) return run_ranges(t);
    parallel_parts(squares(), [&](int64_t part) {
      const Scratch<float> sums(kSums);
      const Square square = square_of(part);
      add_up(t, square, 0, sums);
      store(t.weight, square, 0, square.rows, sums);
    });
  }

 private:
  /// Some rows and columns of the products, for some taps.
  struct Square {
    WinogradTaps taps;
    int64_t row, rows, column, wide;
  };
  int64_t squares() const { return static_cast<int64_t>(taps_.size()) * rows_.blocks * columns_.blocks; }
  Square square_of(int64_t number) const {
    const int64_t row = number % rows_.blocks, column = number / rows_.blocks % columns_.blocks;
    return {taps_[static_cast<size_t>(number / (rows_.blocks * columns_.blocks))], rows_.begin(row), rows_.size(row),
            columns_.begin(column), columns_.size(column)};
  }

  static constexpr int64_t kSums = kWinogradPoints * kWinogradBlock * kWinogradBlock;
  static constexpr int64_t kPieces = 4;  // of a square, whose parts are added at a time

  void run_ranges(const ConvTensors& t) const {
    const Scratch<float> sums(ranges_.blocks * squares() * kSums);
    const auto of = [&](int64_t number, int64_t range) { return sums + (range * squares() + number) * kSums; };
    parallel_parts(squares() * ranges_.blocks, [&](int64_t part) {
      const int64_t number = part % squares(), range = part / squares();
      add_up(t, square_of(number), range, of(number, range));
    });
    parallel_parts(squares() * kPieces, [&](int64_t part) {
      const int64_t number = part / kPieces, piece = part % kPieces;
      const Square square = square_of(number);
      const int64_t begin = square.rows * piece / kPieces, end = square.rows * (piece + 1) / kPieces;
      for (int64_t range = 1; range < ranges_.blocks; ++range) {
        for (int64_t f = 0; f < kWinogradPoints; ++f) {
          float* to = of(number, 0) + f * square.rows * square.wide;
          const float* more = of(number, range) + f * square.rows * square.wide;
          for (int64_t i = begin * square.wide; i < end * square.wide; ++i) to[i] += more[i];
        }
      }
      store(t.weight, square, begin, end, of(number, 0));
    });
  }

  int64_t tiles_in_range() const {
    const int64_t parts = conv_parts("winograd", cube::ConvPass::kBackwardWeights, s_, DType::kFloat, kParts);
    const int64_t ranges = divide_up(parts, squares());
    return std::max(divide_up(tiles_.count(), ranges), kLeastTiles);
  }

  /// The sums of some tiles for one square: for each point a matrix.
  void add_up(const ConvTensors& t, const Square& square, int64_t range, float* sums) const {
    const auto [taps, row, rows, column, wide] = square;
    const int64_t left_step = kWinogradBlock * rows + kLine, right_step = kWinogradBlock * wide + kLine;
    const Scratch<float> left(kWinogradPoints * left_step), right(kWinogradPoints * right_step);
    const Scratch<float> zeros(kWinogradBlock);
    std::fill_n(zeros.data(), kWinogradBlock, 0.0f);
    const auto of_rows = [&](int64_t i) { return WinogradPoints{left + i * rows, left_step}; };
    const auto of_columns = [&](int64_t i) { return WinogradPoints{right + i * wide, right_step}; };
    const int64_t input = outputs_last_ ? row : column, inputs = outputs_last_ ? rows : wide;
    const int64_t output = outputs_last_ ? column : row, outputs = outputs_last_ ? wide : rows;
    const int64_t first = ranges_.begin(range), end = ranges_.begin(range + 1);
    for (int64_t begin = first; begin < end; begin += kWinogradBlock) {
      const int64_t count = std::min(kWinogradBlock, end - begin);
      for (int64_t i = 0; i < count; ++i) {
        tiles_.spread(t.src.as<float>(), begin + i, taps, input, inputs, zeros,
                      outputs_last_ ? of_rows(i) : of_columns(i));
        const auto* gradients = t.dst.as<const float>() + output;
        const auto pixels = tiles_.pixels(gradients, begin + i, static_cast<const float*>(zeros));
        winograd_gradient(pixels.data(), outputs, outputs_last_ ? of_columns(i) : of_rows(i));
      }
      for (int64_t f = 0; f < kWinogradPoints; ++f) {
        if (taps.lacks(f)) {
          std::fill_n(sums + f * rows * wide, rows * wide, 0.0f);
          continue;
        }
        cube::kernel_small({.trans_a = true,
                            .m = rows,
                            .n = wide,
                            .k = count,
                            .a = left + f * left_step,
                            .lda = rows,
                            .b = right + f * right_step,
                            .ldb = wide,
                            .beta = begin > first ? 1.0f : 0.0f,
                            .c = sums + f * rows * wide,
                            .ldc = wide});
      }
    }
  }

  /// Rows [begin, end) of a square from its sums.
  void store(const Tensor& weight, const Square& square, int64_t begin, int64_t end, const float* sums) const {
    const auto [taps, row, rows, column, wide] = square;
    const int64_t row_step = weight.strides[outputs_last_ ? 1 : 0], step = weight.strides[outputs_last_ ? 0 : 1];
    const int64_t down = weight.strides[2], right = weight.strides[3];
    const bool there = step == 1 && taps_.size() == 1 && down == 3 * right;
    const Scratch<float> room(there ? 0 : 9 * wide);
    for (int64_t r = begin; r < end; ++r) {
      float* to = weight.as<float>() + (row + r) * row_step + column * step + taps.y * down + taps.x * right;
      winograd_taps(sums + r * wide, rows * wide, wide, there ? to : room.data(), there ? right : wide);
      for (int64_t tap = 0; !there && tap < 9; ++tap) {
        if (tap / 3 >= taps.high || tap % 3 >= taps.wide) continue;
        float* line = to + tap / 3 * down + tap % 3 * right;
        for (int64_t c = 0; c < wide; ++c) line[c * step] = room[tap * wide + c];
      }
    }
  }

  ConvShape s_;
  WinogradTiles tiles_;
  std::vector<WinogradTaps> taps_;
  bool outputs_last_;           ///< columns of the products are outputs, rows inputs
  WinogradCut rows_, columns_;  ///< of the products
  WinogradCut ranges_;          ///< of the tiles
};

}  // namespace

std::unique_ptr<ConvKernel> make_winograd_weights(const ConvShape& s, const ConvTensors& t) {
  const int64_t tiles = WinogradTiles(s).count();
  if (tiles < kFewTiles || s.work() < kWinogradLeastWork) return nullptr;
  return std::make_unique<WinogradWeights>(s, t.weight.strides[0] == 1);
}

}  // namespace npu::ops
