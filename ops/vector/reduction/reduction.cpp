// SPDX-License-Identifier: Apache-2.0
// Work is cut into tiles of results and, where these are few, chunks of the reduced elements. Both depend on sizes and
// strides alone, and the partial results of chunks are joined in order, so bits do not change with the number of
// threads.
#include "ops/vector/reduction/reduction.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "ops/vector/conversion/stored.h"

namespace npu::ops {
namespace {

constexpr int64_t kBlock = 1024;    // elements converted at a time
constexpr int64_t kTile = 256;      // kept elements side by side in column mode
constexpr int64_t kPart = 1 << 15;  // elements worth a parallel part
constexpr int64_t kMaxChunks = 64;  // each keeps its accumulators until they are joined

// In column mode neighbours in memory belong to different results.
bool columns_are_dense(const Loop& kept, const Loop& reduced) {
  const int64_t k = kept.strides[0].back();
  const int64_t r = reduced.strides[0].back();
  return k == 1 && r != 1 && kept.shape.back() >= 8;
}

}  // namespace

// No dims at all means every dimension, as in torch.
uint32_t axis_bits(const std::vector<int64_t>& dims, size_t rank) {
  if (dims.empty()) return rank == 0 ? 0 : (1u << rank) - 1;
  uint32_t bits = 0;
  for (const int64_t d : dims) {
    const uint32_t bit = 1u << wrap_dim(d, rank);
    require((bits & bit) == 0, "dimension {} appears twice in dim", d);
    bits |= bit;
  }
  return rank == 0 ? 0 : bits;
}

Dims reduced_shape(const Dims& shape, uint32_t axes, bool keepdim) {
  Dims out;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = (axes >> i & 1u) != 0;
    if (!reduced)
      out.push_back(shape[i]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

void Reduction::plan(const Tensor& in, uint32_t axes, const Tensor& out, const ReductionKernel& kernel, double param) {
  kernel_ = kernel;
  param_ = param;
  in_ = in;
  out_ = out;
  load_ = converter(in.dtype, kernel.slot);
  store_ = converter(kernel.result, out.dtype);
  require(load_ != nullptr && store_ != nullptr, "no kernel reduces {} into {}; cast one of them", in.dtype, out.dtype);
  const Dims expected = reduced_shape(in.shape, axes, out.rank() == in.rank());
  require(out.shape == expected, "out is {}, the reduction of {} gives {}", out.shape, in.shape, expected);
  Dims kept_shape, kept_strides[2], reduced_sizes, reduced_strides;
  for (size_t i = 0, o = 0; i < in.rank(); ++i) {
    const bool reduced = (axes >> i & 1u) != 0;
    if (reduced) {
      reduced_sizes.push_back(in.shape[i]);
      reduced_strides.push_back(in.strides[i]);
    } else {
      kept_shape.push_back(in.shape[i]);
      kept_strides[0].push_back(in.strides[i]);
      kept_strides[1].push_back(out.strides[o]);
    }
    if (!reduced || out.rank() == in.rank()) ++o;
  }
  kept_ = make_loop(kept_shape, kept_strides);
  reduced_ = make_loop(reduced_sizes, {&reduced_strides, 1});
  plan_parts();
}

void Reduction::plan_parts() {
  const int64_t kept = kept_.count();
  const int64_t reduced = reduced_.count();
  by_columns_ = columns_are_dense(kept_, reduced_);
  if (by_columns_) {
    tile_ = std::min(kTile, kept_.shape.back());
    tiles_ = kept / std::max<int64_t>(kept_.shape.back(), 1) * ((kept_.shape.back() + tile_ - 1) / tile_);
  } else {
    tile_ = std::clamp<int64_t>(kPart / std::max<int64_t>(reduced, 1), 1, kTile);
    tiles_ = (kept + tile_ - 1) / tile_;
  }
  // Sixteen tiles keep the threads busy. Fewer are cut along what is reduced, in chunks that are worth a thread.
  const int64_t wanted = tiles_ >= 16 ? 1 : std::min(kMaxChunks, tile_ * reduced / kPart);
  chunks_ = std::max<int64_t>(1, wanted);
  chunk_ = (reduced + chunks_ - 1) / chunks_;
}

void Reduction::run() const {
  if (kept_.count() == 0) return;
  const int64_t stride = tile_ * kernel_.acc_size;
  if (chunks_ == 1) {
    parallel_parts(tiles_, [&](int64_t tile) {
      alignas(64) std::byte acc[kTile * 16];  // NOLINT: run_part initialises it
      run_part(tile, acc);
    });
    return;
  }
  std::vector<std::byte> partial(static_cast<size_t>(tiles_ * chunks_ * stride));
  parallel_parts(tiles_ * chunks_, [&](int64_t part) { run_part(part, partial.data() + part * stride); });
  for (int64_t tile = 0; tile < tiles_; ++tile) {
    std::byte* acc = partial.data() + tile * chunks_ * stride;
    for (int64_t c = 1; c < chunks_; ++c) kernel_.merge(acc + c * stride, tile_, acc);
    run_part(-1 - tile, acc);
  }
}

// A part is one chunk of the reduced elements of one tile of kept ones. A negative number means: only finish that tile.
void Reduction::run_part(int64_t part, std::byte* acc) const {
  const bool only_finish = part < 0;
  const int64_t tile = only_finish ? -1 - part : part / chunks_;
  int64_t kept = tile * tile_;
  int64_t width = std::min(tile_, kept_.count() - kept);
  if (by_columns_) {
    const int64_t inner = kept_.shape.back();
    const int64_t per_row = (inner + tile_ - 1) / tile_;
    const int64_t column = tile % per_row * tile_;
    kept = tile / per_row * inner + column;
    width = std::min(tile_, inner - column);
  }
  if (!only_finish) {
    const int64_t begin = part % chunks_ * chunk_;
    const int64_t end = std::min(begin + chunk_, reduced_.count());
    // The whole tile, also at the edge: merge goes over all of it.
    kernel_.init(acc, tile_);
    if (by_columns_) {
      run_columns(kept, width, begin, end, acc);
    } else {
      for (int64_t i = 0; i < width; ++i) run_rows(kept + i, begin, end, acc + i * kernel_.acc_size);
    }
    if (chunks_ > 1) return;
  }
  finish(kept, width, acc);
}

void Reduction::run_rows(int64_t kept, int64_t begin, int64_t end, std::byte* acc) const {
  alignas(64) std::byte block[kBlock * 16];  // NOLINT: filled by gather
  const auto size = static_cast<int64_t>(size_of(in_.dtype));
  const auto slot_size = static_cast<int64_t>(size_of(kernel_.slot));
  const std::byte* base = in_.bytes() + LoopCursor(kept_, kept).offset(0) * size;
  const bool direct = reads_as(in_.dtype, kernel_.slot) && reduced_.dense(0);
  // Blocks even where nothing is converted: they bound what one lane sums in float.
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
    if (!direct) gather(reduced_, 0, base, size, at, n, load_, block, slot_size);
    kernel_.row(direct ? base + at * size : block, n, param_, acc);
  }
}

void Reduction::run_columns(int64_t kept, int64_t width, int64_t begin, int64_t end, std::byte* acc) const {
  alignas(64) std::byte block[kTile * 16];  // NOLINT: filled by the conversion
  if (begin >= end) return;
  const auto size = static_cast<int64_t>(size_of(in_.dtype));
  const std::byte* base = in_.bytes() + LoopCursor(kept_, kept).offset(0) * size;
  const bool direct = reads_as(in_.dtype, kernel_.slot);
  LoopCursor at(reduced_, begin);
  for (int64_t i = begin; i < end; ++i) {
    const std::byte* row = base + at.offset(0) * size;
    if (!direct) load_(row, 1, block, 1, width);
    kernel_.columns(direct ? row : block, width, param_, acc);
    if (i + 1 < end) at.advance(1);
  }
}

void Reduction::finish(int64_t kept, int64_t width, const std::byte* acc) const {
  alignas(64) std::byte block[kTile * 16];  // NOLINT: filled by finish
  kernel_.finish(acc, width, reduced_.count(), param_, block);
  scatter(kept_, 1, out_.bytes(), static_cast<int64_t>(size_of(out_.dtype)), kept, width, store_, block,
          static_cast<int64_t>(size_of(kernel_.result)));
}

}  // namespace npu::ops
