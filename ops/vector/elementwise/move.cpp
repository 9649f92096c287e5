// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/elementwise/move.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "ops/vector/elementwise/transpose.h"
#include "ops/vector/loop/far_rows.h"

namespace npu::ops {
namespace {

constexpr int64_t kBlock = 512;      // elements of one block
constexpr int64_t kGrain = 1 << 15;  // elements per parallel part
constexpr int64_t kMostRowBytes = 1 << 17;
constexpr int64_t kLeastRow = 32;  // bytes; shorter ones are put together
constexpr int64_t kLeastSide = 8;  // elements of a plane that is worth transposing
constexpr int64_t kTileRows = 64;  // of a plane at a time
constexpr int64_t kTileColumns = 256;
constexpr int64_t kPartBytes = 1 << 17;  // of rows
constexpr int64_t kShortRow = 512;

// A call of memcpy costs more than what a short row takes.
void copy_row(const std::byte* from, int64_t bytes, std::byte* to) {
  if (bytes > kShortRow) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  int64_t at = 0;
  for (; at + 32 <= bytes; at += 32) std::memcpy(to + at, from + at, 32);
  // The last 32 bytes, some of them again.
  if (at < bytes) std::memcpy(to + bytes - 32, from + bytes - 32, 32);
}

template <int64_t kSize>
void move_block(const void* const* in, void* out, int64_t count) {
  // A copy onto itself is a client's right; memcpy asks for different memory.
  if (in[0] != out) std::memcpy(out, in[0], static_cast<size_t>(count * kSize));
}

BlockKernel move_kernel(size_t size) {
  switch (size) {
    case 1: return &move_block<1>;
    case 2: return &move_block<2>;
    case 4: return &move_block<4>;
    case 8: return &move_block<8>;
    default: return &move_block<16>;
  }
}

bool overlap(const Tensor& a, const Tensor& b) {
  const auto end = [](const Tensor& t) { return t.bytes() + t.span() * static_cast<int64_t>(size_of(t.dtype)); };
  return a.bytes() < end(b) && b.bytes() < end(a);
}

}  // namespace

// The common dtype, else whichever side is a compute dtype, else the input's.
DType slot_between(DType from, DType to) {
  if (from == to) return from;
  if (slot_of(to) == to && converter(from, to) != nullptr) return to;
  return slot_of(from);
}

/// False for more than some hundred kilobytes, which threads share, and for what is no list of rows. Whether the two
/// overlap is another question.
bool Move::find_rows(const Tensor& from, const Tensor& to, Rows& rows) {
  const auto size = static_cast<int64_t>(size_of(to.dtype));
  rows = {1, size, 0, 0};
  if (to.count() * size > kMostRowBytes) return false;
  for (size_t axis = to.rank(); axis-- > 0;) {
    const int64_t n = to.shape[axis], from_step = from.strides[axis] * size, to_step = to.strides[axis] * size;
    if (n == 1) continue;
    if (rows.count == 1 && from_step == rows.bytes && to_step == rows.bytes)
      rows.bytes *= n;
    else if (rows.count == 1)
      rows = {n, rows.bytes, from_step, to_step};
    else if (from_step == rows.count * rows.from_step && to_step == rows.count * rows.to_step)
      rows.count *= n;
    else
      return false;
  }
  return rows.bytes >= kLeastRow || rows.count == 1;
}

// What both sides keep side by side, in rows of at least kLeastRow bytes.
bool Move::find_many_rows(const Loop& loop, int64_t size, ManyRows& rows) {
  if (loop.strides[0].back() != 1 || loop.strides[1].back() != 1 || loop.shape.size() < 2) return false;
  const int64_t bytes = loop.shape.back() * size;
  if (bytes < kLeastRow) return false;
  rows = {rows_of(loop), bytes, size};
  return true;
}

/// False where an axis of the two is short, or elements have 16 bytes.
bool Move::find_planes(const Loop& whole, int64_t size, Planes& planes) {
  if (size > 8) return false;
  Loop loop = whole;
  if (loop.strides[0].back() != 1 || loop.shape.back() < kLeastSide) return false;
  for (size_t axis = 0; axis + 1 < loop.shape.size(); ++axis) {
    if (loop.strides[1][axis] != 1 || loop.shape[axis] < kLeastSide) continue;
    planes = {{}, loop.shape.back(), loop.shape[axis], loop.strides[1].back(), loop.strides[0][axis], size};
    // What is left are the axes that count planes.
    loop.shape[axis] = loop.shape.back() = 1;
    planes.each = loop;
    return true;
  }
  return false;
}

void Move::run_many_rows() const {
  const ManyRows& m = many_rows_;
  const int64_t from_step = m.each.strides[1].back() * m.element, to_step = m.each.strides[0].back() * m.element;
  const int64_t ahead = m.each.count() * m.bytes >= kFarBytes ? kRowsAhead * from_step : 0;
  parallel_for(m.each.count(), std::max<int64_t>(1, kPartBytes / m.bytes), [&](int64_t begin, int64_t end) {
    LoopCursor at(m.each, begin);
    for (int64_t left = end - begin; left > 0;) {
      const int64_t run = std::min(left, at.row_left());
      const std::byte* from = from_ + at.offset(1) * m.element;
      std::byte* to = to_ + at.offset(0) * m.element;
      for (int64_t r = 0; r < run; ++r, from += from_step, to += to_step) {
        if (ahead != 0) fetch_row(from + ahead, m.bytes);
        copy_row(from, m.bytes, to);
      }
      left -= run;
      if (left > 0) at.advance(run);
    }
  });
}

void Move::run_planes() const {
  const Planes& p = planes_;
  const int64_t down = (p.rows + kTileRows - 1) / kTileRows, across = (p.columns + kTileColumns - 1) / kTileColumns;
  const int64_t tiles = down * across,
                part = std::max<int64_t>(1, kGrain / (std::min(kTileRows, p.rows) * std::min(kTileColumns, p.columns)));
  parallel_for(p.each.count() * tiles, part, [&](int64_t begin, int64_t end) {
    LoopCursor at(p.each, begin / tiles);
    for (int64_t i = begin; i < end; ++i) {
      if (i > begin && i % tiles == 0) at.advance(1);
      const int64_t row = i % tiles / across * kTileRows, column = i % across * kTileColumns;
      transpose(from_ + (at.offset(1) + row * p.row_step + column) * p.element, p.row_step,
                std::min(kTileRows, p.rows - row), std::min(kTileColumns, p.columns - column), p.element,
                to_ + (at.offset(0) + column * p.column_step + row) * p.element, p.column_step);
    }
  });
}

void Move::moved(const Operand& from, const Tensor& to) {
  // These are copied without looking, so memory that overlaps at its new place is planned again.
  if (way_ == Way::kLoop || overlap(from.tensor, to)) return plan(from, to);
  from_ = from.tensor.bytes(), to_ = to.bytes();
}

int64_t Move::cost() const {
  switch (way_) {
    case Way::kRows: return 100 + rows_.count * rows_.bytes / 16;
    case Way::kManyRows: return 100 + many_rows_.each.count() * many_rows_.bytes / 16;
    case Way::kPlanes: return 100 + planes_.each.count() * planes_.rows * planes_.columns / 2;
    default: return loop_.cost();
  }
}

void Move::run() const {
  if (way_ == Way::kLoop) return loop_.run();
  if (way_ == Way::kManyRows) return run_many_rows();
  if (way_ == Way::kPlanes) return run_planes();
  for (int64_t i = 0; i < rows_.count; ++i)
    std::memcpy(to_ + i * rows_.to_step, from_ + i * rows_.from_step, static_cast<size_t>(rows_.bytes));
}

Move::Way Move::find_way(const Tensor& from, const Tensor& to) {
  // A bool is not copied as it is: any byte but 0 is true, and 1 is stored.
  if (from.dtype != to.dtype || from.dtype == DType::kBool || !(from.shape == to.shape) || to.count() == 0)
    return Way::kLoop;
  if (find_rows(from, to, rows_)) return Way::kRows;
  const Dims strides[] = {to.strides, from.strides};
  const Loop loop = make_loop(to.shape, strides);
  const auto size = static_cast<int64_t>(size_of(to.dtype));
  if (find_many_rows(loop, size, many_rows_)) return Way::kManyRows;
  return find_planes(loop, size, planes_) ? Way::kPlanes : Way::kLoop;
}

void Move::plan(const Operand& from, const Tensor& to) {
  way_ = Way::kLoop;
  if (!from.is_scalar() && !overlap(from.tensor, to)) way_ = find_way(from.tensor, to);
  if (way_ != Way::kLoop) {
    from_ = from.tensor.bytes(), to_ = to.bytes();
    return;
  }
  DType slot = from.is_scalar() ? slot_of(to.dtype) : slot_between(from.tensor.dtype, to.dtype);
  if (from.is_scalar() && is_complex(from.dtype())) slot = DType::kComplex128;
  require(slot != DType::kUndefined, "no kernel copies {} to {}", from.dtype(), to.dtype);
  loop_.set_output(to, slot);
  loop_.add_input(from, slot);
  loop_.plan(move_kernel(size_of(slot)));
}

void Reshape::plan(const Tensor& from, const Tensor& to) {
  require(from.count() == to.count(), "{} has {} elements, {} has {}; a reshape keeps their number", from, from.count(),
          to, to.count());
  const DType slot = slot_between(from.dtype, to.dtype);
  load_ = converter(from.dtype, slot);
  store_ = converter(slot, to.dtype);
  require(load_ != nullptr && store_ != nullptr, "no kernel copies {} to {}", from.dtype, to.dtype);
  source_ = from;
  target_ = to;
  from_ = make_ordered_loop(from.shape, {&from.strides, 1});
  to_ = make_ordered_loop(to.shape, {&to.strides, 1});
  slot_size_ = static_cast<int64_t>(size_of(slot));
}

void Reshape::run() const {
  const auto from_size = static_cast<int64_t>(size_of(source_.dtype));
  const auto to_size = static_cast<int64_t>(size_of(target_.dtype));
  parallel_for(from_.count(), kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) std::byte block[kBlock * 16];  // NOLINT: filled by gather
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      gather(from_, 0, source_.bytes(), from_size, at, n, load_, block, slot_size_);
      scatter(to_, 0, target_.bytes(), to_size, at, n, store_, block, slot_size_);
    }
  });
}

}  // namespace npu::ops
