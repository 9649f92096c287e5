// SPDX-License-Identifier: Apache-2.0
#include "ops/runner/overflow.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/thread_pool.h"
#include "ops/vector/conversion/extreme.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {
namespace {

constexpr int64_t kGrain = 1 << 16;  // elements

bool narrower(DType to, DType from) {
  if (from == to) return false;
  // float16 is as wide as bfloat16, but has the smaller range.
  return !is_floating(from) || from == DType::kDouble || size_of(to) < size_of(from) || to == DType::kHalf;
}

/// A copy into a type of a smaller range computes: it rounds, and what is too large overflows.
bool narrows(Operator& op) {
  if (!op.def->is(kCasts)) return false;
  const DType to = op.def->field("out")->of<Tensor>(op).dtype;
  bool any = false;
  for_each_tensor(op, [&](const Tensor& from, const Field& field) {
    any |= !field.is_result() && from.defined() && narrower(to, from.dtype);
  });
  return any;
}

template <class Visit>
void each_row(const Tensor& tensor, Visit&& visit) {
  if (tensor.count() == 0) return;
  // Only rows that the result really has: a strided output leaves its gaps alone.
  const Dims strides[] = {tensor.strides};
  const Loop loop = make_loop(tensor.shape, strides);
  const auto size = static_cast<int64_t>(size_of(tensor.dtype));
  int64_t left = loop.count();
  for (LoopCursor at(loop, 0); left > 0;) {
    const int64_t n = at.row_left();
    visit(tensor.bytes() + at.offset(0) * size, loop.strides[0].back(), n);
    left -= n;
    if (left > 0) at.advance(n);
  }
}

/// Long rows in parts, on several threads.
template <class Visit>
void each_part(const Tensor& tensor, Visit&& visit) {
  const auto size = static_cast<int64_t>(size_of(tensor.dtype));
  each_row(tensor, [&](std::byte* row, int64_t stride, int64_t count) {
    parallel_for(count, kGrain,
                 [&](int64_t begin, int64_t end) { visit(row + begin * stride * size, stride, end - begin); });
  });
}

template <class Visit>
void each_result(Operator& op, Visit&& visit) {
  for_each_tensor(op, [&](Tensor& tensor, const Field& field) {
    if (field.is_result()) visit(tensor, field.name);
  });
}

}  // namespace

void OverflowScope::found(const Tensor& result, std::string_view output) const {
  const bool first = device::raise_overflow(device_);
  OverflowWitness* const witness = OverflowWitness::current();
  // The first overflow since the word was cleared is told, the others only keep it set: telling takes another pass.
  if (!first && witness == nullptr) return;
  const device::Overflow overflow = described(result, output);
  if (witness != nullptr) witness->add({overflow, result.bytes()});
  if (first) device::tell_overflow(overflow);
}

device::Overflow OverflowScope::described(const Tensor& result, std::string_view output) const {
  Extremes told;
  each_row(result, [&](const std::byte* row, int64_t stride, int64_t count) {
    range_kernel(result.dtype)->tell(row, stride, count, told);
  });
  device::Overflow overflow;
  overflow.device = device_;
  overflow.step = device::overflow_step(device_);
  overflow.output = output;
  overflow.dtype = result.dtype;
  overflow.shape = result.shape;
  overflow.least = told.least;
  overflow.most = told.most;
  overflow.infinities = told.infinities;
  overflow.nans = told.nans;
  overflow.saturated = told.saturated;
  describe_(context_, overflow);
  return overflow;
}

bool may_overflow(Operator& op) {
  if (const auto* members = op.members())
    return std::any_of(members->begin(), members->end(), [](const auto& member) { return may_overflow(*member); });
  return op.def != nullptr && (!op.def->is(kMovesBits) || narrows(op));
}

bool has_overflow(const Tensor& tensor) {
  const RangeKernel* const kernel = tensor.defined() ? range_kernel(tensor.dtype) : nullptr;
  if (kernel == nullptr) return false;
  std::atomic<bool> found = false;
  each_part(tensor, [&](const std::byte* row, int64_t stride, int64_t count) {
    if (kernel->leaves(row, stride, count)) found.store(true, std::memory_order_relaxed);
  });
  return found;
}

void saturate(const Tensor& tensor) {
  const RangeKernel* const kernel = range_kernel(tensor.dtype);
  if (kernel == nullptr) return;
  each_part(tensor, [&](std::byte* row, int64_t stride, int64_t count) { kernel->saturate(row, stride, count); });
}

bool results_overflow(Operator& op) {
  bool any = false;
  if (may_overflow(op)) each_result(op, [&](const Tensor& result, std::string_view) { any |= has_overflow(result); });
  return any;
}

void detail::saturate_results(Operator& op, const OverflowScope& scope) {
  // A list of calls has no results of its own.
  if (const auto* members = op.members()) {
    for (const auto& member : *members) saturate_results(*member, scope);
    return;
  }
  if (!may_overflow(op)) return;
  each_result(op, [&](const Tensor& result, std::string_view name) {
    if (!has_overflow(result)) return;
    scope.found(result, name);
    saturate(result);
  });
}

}  // namespace npu::ops
