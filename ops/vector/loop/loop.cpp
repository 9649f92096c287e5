// SPDX-License-Identifier: Apache-2.0
// Ordering axes by stride makes the walk follow memory whatever the client has transposed; merging them makes rows
// long, so that most operands end as one run and the cost of a row's start does not show.
#include "ops/vector/loop/loop.h"

#include <cstdlib>

#include "base/wrap.h"

namespace npu::ops {
namespace {

// Does axis `a` belong outside axis `b`? Decided by the first operand that moves along both; expanded axes do not say.
bool outside(std::span<const Dims> strides, size_t a, size_t b) {
  for (const Dims& s : strides) {
    if (s[a] == 0 || s[b] == 0) continue;
    if (std::llabs(s[a]) != std::llabs(s[b])) return std::llabs(s[a]) > std::llabs(s[b]);
  }
  return a < b;
}

Dims axis_order(const Dims& shape, std::span<const Dims> strides) {
  Dims order;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    // Insertion from the inside out keeps the given order where strides do not decide.
    size_t at = order.size();
    while (at > 0 && outside(strides, axis, static_cast<size_t>(order[at - 1])) &&
           !outside(strides, static_cast<size_t>(order[at - 1]), axis)) {
      --at;
    }
    order.insert(at, static_cast<int64_t>(axis));
  }
  return order;
}

// Strides of a tensor without elements may be any numbers.
bool merges(const Loop& loop, std::span<const Dims> strides, size_t axis, int64_t size) {
  for (size_t k = 0; k < loop.operands; ++k) {
    if (loop.strides[k].back() != wrap_multiply(strides[k][axis], size)) return false;
  }
  return true;
}

Loop merge_in_order(const Dims& order, const Dims& shape, std::span<const Dims> strides) {
  Loop loop;
  loop.operands = strides.size();
  for (const int64_t raw : order) {
    const auto axis = static_cast<size_t>(raw);
    if (!loop.shape.empty() && merges(loop, strides, axis, shape[axis])) {
      loop.shape.back() *= shape[axis];
      for (size_t k = 0; k < loop.operands; ++k) loop.strides[k].back() = strides[k][axis];
      continue;
    }
    loop.shape.push_back(shape[axis]);
    for (size_t k = 0; k < loop.operands; ++k) loop.strides[k].push_back(strides[k][axis]);
  }
  // A scalar, or axes of one element each.
  if (loop.shape.empty()) {
    loop.shape.push_back(1);
    for (size_t k = 0; k < loop.operands; ++k) loop.strides[k].push_back(0);
  }
  return loop;
}

}  // namespace

bool Loop::constant(size_t k) const {
  for (const int64_t s : strides[k]) {
    if (s != 0) return false;
  }
  return true;
}

Loop make_loop(const Dims& shape, std::span<const Dims> strides) {
  return merge_in_order(axis_order(shape, strides), shape, strides);
}

Loop rows_of(const Loop& loop) {
  Loop rows = loop;
  rows.shape.pop_back();
  for (size_t k = 0; k < loop.operands; ++k) rows.strides[k].pop_back();
  return rows;
}

Loop make_ordered_loop(const Dims& shape, std::span<const Dims> strides) {
  Dims order;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != 1) order.push_back(static_cast<int64_t>(axis));
  }
  return merge_in_order(order, shape, strides);
}

LoopCursor::LoopCursor(const Loop& loop, int64_t position) : loop_(loop), index_(loop.shape.size(), 0) {
  for (size_t axis = loop.shape.size(); axis-- > 0;) {
    index_[axis] = position % loop.shape[axis];
    position /= loop.shape[axis];
    for (size_t k = 0; k < loop.operands; ++k) offset_[k] += index_[axis] * loop.strides[k][axis];
  }
}

void LoopCursor::advance(int64_t count) {
  size_t axis = loop_.shape.size() - 1;
  index_[axis] += count;
  for (size_t k = 0; k < loop_.operands; ++k) offset_[k] += count * loop_.strides[k][axis];
  // Carries into outer axes as a counter does, without a division.
  while (axis > 0 && index_[axis] == loop_.shape[axis]) {
    for (size_t k = 0; k < loop_.operands; ++k) {
      offset_[k] += loop_.strides[k][axis - 1] - loop_.shape[axis] * loop_.strides[k][axis];
    }
    index_[axis] = 0;
    ++index_[--axis];
  }
}

void gather(const Loop& loop, size_t k, const std::byte* base, int64_t size, int64_t begin, int64_t count,
            Convert convert, std::byte* block, int64_t block_size) {
  if (count <= 0) return;  // an axis may have no element
  const int64_t stride = loop.strides[k].back();
  for (LoopCursor at(loop, begin); count > 0;) {
    const int64_t n = std::min(count, at.row_left());
    convert(base + at.offset(k) * size, stride, block, 1, n);
    block += n * block_size;
    count -= n;
    if (count > 0) at.advance(n);
  }
}

void scatter(const Loop& loop, size_t k, std::byte* base, int64_t size, int64_t begin, int64_t count, Convert convert,
             const std::byte* block, int64_t block_size) {
  if (count <= 0) return;
  const int64_t stride = loop.strides[k].back();
  for (LoopCursor at(loop, begin); count > 0;) {
    const int64_t n = std::min(count, at.row_left());
    convert(block, 1, base + at.offset(k) * size, stride, n);
    block += n * block_size;
    count -= n;
    if (count > 0) at.advance(n);
  }
}

}  // namespace npu::ops
