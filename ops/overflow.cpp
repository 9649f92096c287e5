// SPDX-License-Identifier: Apache-2.0
#include "ops/overflow.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_set>

#include "base/error.h"
#include "base/split.h"
#include "base/thread_pool.h"
#include "ops/vector/extreme.h"
#include "ops/vector/loop.h"

namespace npu::ops {
namespace {

constexpr int64_t kGrain = 1 << 16;  // elements

// They move elements, choose between them or change their sign: an infinity in a result was in an input, where it is
// left alone. Copies that narrow the type are told apart below.
constexpr std::string_view kMovers =
    "abs adaptive_max_pool amax amin aminmax arange cat channel_shuffle clamp clamp_max clamp_min constant_pad copy "
    "cummax cummin eye fill_diagonal flip gather gather_nd im2col index index_copy index_fill index_select kthvalue "
    "masked_fill masked_scatter masked_select max_dim max_pool max_pool_indices max_pool_mask max_unpool maximum "
    "min_dim minimum neg permute reflection_pad relu relu_backward repeat repeat_each repeat_interleave "
    "replication_pad roll sign slice slice_at slice_put sort split stack strided_slice take threshold "
    "threshold_backward token_permute topk transpose_reshape tril triu unique unique_in_order where";

const std::unordered_set<const OperatorDef*>& movers() {
  static const auto& all = *[] {
    auto* found = new std::unordered_set<const OperatorDef*>;
    for (const std::string_view name : split(kMovers, " ")) {
      const OperatorDef* def = find_operator(name);
      if (def == nullptr) fail(Code::kInternal, "operator '{}' is listed as one that moves and is not there", name);
      found->insert(def);
    }
    return found;
  }();
  return all;
}

/// A copy into a type of a smaller range computes: it rounds, and what is too large overflows.
bool narrows(Operator& op) {
  static const OperatorDef* const copy = find_operator("copy");
  if (op.def != copy) return false;
  const auto& from = static_cast<const Operand*>(copy->field("self")->locate(op))->tensor;
  const auto& to = *static_cast<const Tensor*>(copy->field("out")->locate(op));
  if (!from.defined() || from.dtype == to.dtype) return false;
  return !is_floating(from.dtype) || from.dtype == DType::kDouble || size_of(to.dtype) < size_of(from.dtype) ||
         to.dtype == DType::kHalf;
}

template <class Visit>
void each_row(const Tensor& tensor, Visit&& visit) {
  if (tensor.count() == 0) return;
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
  for (const Field& field : op.def->fields) {
    if (field.role != FieldRole::kOut && field.role != FieldRole::kOptionalOut && field.role != FieldRole::kInOut)
      continue;
    void* member = field.locate(op);
    if (field.kind == FieldKind::kTensor) visit(*static_cast<const Tensor*>(member), field.name);
    if (field.kind == FieldKind::kTensorList)
      for (const Tensor& one : *static_cast<const std::vector<Tensor>*>(member)) visit(one, field.name);
  }
}

}  // namespace

void OverflowScope::found(const Tensor& result, std::string_view output) const {
  if (!device::raise_overflow(device_)) return;
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
  device::tell_overflow(overflow);
}

bool may_overflow(Operator& op) { return op.def != nullptr && (!movers().contains(op.def) || narrows(op)); }

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
  if (!may_overflow(op)) return;
  each_result(op, [&](const Tensor& result, std::string_view name) {
    if (!has_overflow(result)) return;
    scope.found(result, name);
    saturate(result);
  });
}

}  // namespace npu::ops
