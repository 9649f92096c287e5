// SPDX-License-Identifier: Apache-2.0
// The house's own kernels for AVX-512, which products and convolutions share. Numbers are read as words of 32 bits: a
// float, or two bfloat16 that follow each other along the axis that is summed over. A right operand lies in panels of
// 32 columns, in which the words of one row follow each other; sums are float32, each in the order of that axis.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace npu::ops::cube {

/// True where these kernels were measured to be the fastest there are: float32 and bfloat16 on AMD's CPUs with AVX-512,
/// the latter with its dot products. Matrix units (AMX) are left to oneDNN.
bool has_panels(DType dtype);

/// Columns of a panel.
inline constexpr int64_t kPanel = 32;

/// Numbers of `dtype` in a word.
inline int64_t word_of(DType dtype) { return dtype == DType::kFloat ? 1 : 2; }

/// A right operand: k x n numbers, number (p, j) at data[p * ld + j], or at data[j * ld + p] if `turned`.
struct Right {
  DType dtype;
  const void* data;
  int64_t ld;
  bool turned;
  int64_t k, n;
};

/// Words of a panel of k rows.
inline int64_t panel_words(DType dtype, int64_t k) { return (k + word_of(dtype) - 1) / word_of(dtype) * kPanel; }

/// Puts `right` into panels that begin `words` words after each other; columns beyond n and an odd last row are zeros.
/// On the thread pool if `parallel`.
void order_right(const Right& right, int64_t words, bool parallel, void* to);

/// The weights of a convolution as frameworks mostly keep them, its taps side by side: number (p, j) of tap t at
/// data[p * k_step + j * column_step + t].
struct RightTaps {
  DType dtype;
  const void* data;
  int64_t k_step, column_step;
  const int64_t* rows;  ///< where each tap begins in a panel, in rows
  int64_t taps, k, n;
};
/// As order_right.
void order_right(const RightTaps& right, int64_t words, void* to);

/// A line of `width` pixels of `channels` planes, `plane` numbers apart, to words that lie channels last, `pixel` words
/// from one to the next; after an odd number of bfloat16 follows a zero.
void gather_pixels(DType dtype, const void* from, int64_t plane, int64_t channels, int64_t width, void* to,
                   int64_t pixel);

/// Sums over `steps` runs of `run` words each: run i of a row of A begins a_steps[i] words behind the row, that of B
/// b_steps[i] words behind each panel.
struct Runs {
  const int64_t* a_steps;
  const int64_t* b_steps;
  int64_t steps, run;
};

/// A block of a convolution's result: `height` lines of `width` pixels of some images, by `channels`.
struct DirectBlock {
  DType dtype;           ///< of a, b and out
  const void* a;         ///< the image from the first pixel's first number on, channels last, with what pads it
  int64_t pixel, image;  ///< words from where an output pixel, or image, reads to where the next one does
  const void* b;         ///< weights: panels of output channels
  int64_t panel;         ///< words from one to the next
  Runs runs;
  const int64_t* lines;  ///< of the runs, those of line y: [lines[y], lines[y + 1])
  int64_t images, height, width, channels;
  void* out;
  int64_t out_pixel, out_line, out_image, out_channel;  ///< strides, in numbers
  const float* bias;                                    ///< of each channel, or null
};
void direct_block(const DirectBlock& block);

/// c[rows][cols] (+)= A B over runs: what a gradient of weights sums over lines of images. Sums begin at zero and are
/// added as a whole, so that long ones lose few digits. At most 14 rows; c has room
/// for whole vectors of 16 columns.
struct DirectSums {
  DType dtype;
  const void* a;
  int64_t row;  ///< words from one row of A to the next
  const void* b;
  Runs runs;
  int64_t rows, cols;  ///< cols at most kPanel
  float* c;
  int64_t ldc;
  bool add;
};
/// The most rows of DirectSums.
inline constexpr int64_t kMostRows = 14;
void direct_sums(const DirectSums& sums);

}  // namespace npu::ops::cube
