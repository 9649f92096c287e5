// SPDX-License-Identifier: Apache-2.0
// Kernels see lines of slot elements and nothing of strides or dtypes. Lines across memory are computed 64 side by
// side, because reading one of them alone fetches a whole cache line for every element.
#include "ops/vector/loop/along.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

constexpr int64_t kPart = 1 << 15;  // elements worth a parallel part
constexpr int64_t kShortLine = 16;  // below it, gathering columns beats a vector that is never full

}  // namespace

void Along::plan(std::span<const Tensor> inputs, const Tensor& out, int64_t dim, DType slot,
                 const AlongKernel& kernel) {
  kernel_ = kernel;
  inputs_ = inputs.size();
  slot_size_ = static_cast<int64_t>(size_of(slot));
  const size_t axis = wrap_dim(dim, out.rank());
  Dims shape, strides[4];
  for (size_t d = 0; d < out.rank(); ++d) {
    if (d != axis) shape.push_back(out.shape[d]);
  }
  length_ = out.dim(static_cast<int64_t>(axis));
  for (size_t k = 0; k <= inputs_; ++k) {
    const Tensor& t = k < inputs_ ? inputs[k] : out;
    require(t.shape == out.shape, "input {} is {}, out is {}: the shapes must be the same", k, t, out);
    Side& s = sides_[k];
    s.tensor = t;
    s.size = static_cast<int64_t>(size_of(t.dtype));
    s.same = t.dtype == slot;
    s.convert = k < inputs_ ? converter(t.dtype, slot) : converter(slot, t.dtype);
    require(s.convert != nullptr, "no kernel computes {} in {}; cast the tensor to a floating type", t, slot);
    s.axis_stride = t.rank() == 0 ? 1 : t.strides[axis];
    for (size_t d = 0; d < t.rank(); ++d) {
      if (d != axis) strides[k].push_back(t.strides[d]);
    }
  }
  lines_ = make_loop(shape, {strides, inputs_ + 1});
  // The first input decides for all: one walk serves them, and sides that lie otherwise are staged.
  const bool across = lines_.strides[0].back() == 1 && sides_[0].axis_stride != 1 && lines_.shape.back() >= 8;
  by_columns_ = across || (length_ < kShortLine && lines_.shape.back() >= kColumns);
}

void Along::run() const {
  const int64_t lines = lines_.count();
  if (lines == 0 || length_ == 0) return;
  if (!by_columns_) {
    parallel_for(lines, std::max<int64_t>(1, kPart / length_), [this](int64_t b, int64_t e) { run_rows(b, e); });
    return;
  }
  const int64_t inner = lines_.shape.back();
  // A tile never goes beyond the innermost axis: its columns lie at one stride.
  const int64_t tiles = lines / inner * ((inner + kColumns - 1) / kColumns);
  const int64_t grain = std::max<int64_t>(1, kPart / (length_ * kColumns));
  parallel_for(tiles, grain, [this](int64_t b, int64_t e) {
    for (int64_t tile = b; tile < e; ++tile) run_columns(tile);
  });
}

void Along::run_rows(int64_t begin, int64_t end) const {
  AlongBlock block{};
  block.length = length_;
  Scratch<std::byte> staged[4];
  LoopCursor at(lines_, begin);
  const Side& o = sides_[inputs_];
  for (int64_t line = begin; line < end; ++line) {
    for (size_t k = 0; k < inputs_; ++k) {
      const Side& s = sides_[k];
      const std::byte* first = s.tensor.bytes() + at.offset(k) * s.size;
      block.in[k] = first;
      block.step[k] = 1;
      if (s.same && s.axis_stride == 1) continue;
      std::byte* buffer = staged[k].at_least(length_ * slot_size_);
      s.convert(first, s.axis_stride, buffer, 1, length_);
      block.in[k] = buffer;
    }
    std::byte* first = o.tensor.bytes() + at.offset(inputs_) * o.size;
    const bool direct = o.same && o.axis_stride == 1;
    block.out = direct ? first : staged[inputs_].at_least(length_ * slot_size_);
    block.out_step = 1;
    kernel_.row(block);
    if (!direct) o.convert(block.out, 1, first, o.axis_stride, length_);
    if (line + 1 < end) at.advance(1);
  }
}

// Copies `width` lines into a block of kColumns, element by element of the lines.
void Along::stage_columns(size_t k, const std::byte* first, int64_t width, std::byte* buffer) const {
  const Side& s = sides_[k];
  for (int64_t i = 0; i < length_; ++i) {
    s.convert(first + i * s.axis_stride * s.size, lines_.strides[k].back(), buffer + i * kColumns * slot_size_, 1,
              width);
  }
}

void Along::run_columns(int64_t tile) const {
  const int64_t inner = lines_.shape.back();
  const int64_t per_row = (inner + kColumns - 1) / kColumns;
  const int64_t column = tile % per_row * kColumns;
  const int64_t width = std::min(kColumns, inner - column);
  const LoopCursor at(lines_, tile / per_row * inner + column);
  // A block that is not full is staged even where its memory fits: the kernel computes 64 columns, and the others
  // belong to somebody else. In the staging room they hold anything, and nobody reads what comes of them.
  const auto direct = [&](size_t k) { return width == kColumns && sides_[k].same && lines_.strides[k].back() == 1; };
  AlongBlock block{};
  block.length = length_;
  Scratch<std::byte> staged[4];
  const int64_t bytes = length_ * kColumns * slot_size_;
  for (size_t k = 0; k < inputs_; ++k) {
    const std::byte* first = sides_[k].tensor.bytes() + at.offset(k) * sides_[k].size;
    if (!direct(k)) stage_columns(k, first, width, staged[k].at_least(bytes));
    block.in[k] = direct(k) ? first : staged[k].data();
    block.step[k] = direct(k) ? sides_[k].axis_stride : kColumns;
  }
  const Side& o = sides_[inputs_];
  std::byte* first = o.tensor.bytes() + at.offset(inputs_) * o.size;
  block.out = direct(inputs_) ? first : staged[inputs_].at_least(bytes);
  block.out_step = direct(inputs_) ? o.axis_stride : kColumns;
  kernel_.columns(block);
  if (direct(inputs_)) return;
  for (int64_t i = 0; i < length_; ++i) {
    o.convert(static_cast<const std::byte*>(block.out) + i * kColumns * slot_size_, 1,
              first + i * o.axis_stride * o.size, lines_.strides[inputs_].back(), width);
  }
}

}  // namespace npu::ops
