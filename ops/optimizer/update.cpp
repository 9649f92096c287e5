// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer/update.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace npu::ops {
namespace {

constexpr int64_t kBlock = 1024;     // elements handed to a kernel at a time: all tensors' blocks fit the first cache
constexpr int64_t kGrain = 1 << 15;  // elements per parallel part

}  // namespace

void Update::begin(DType slot) {
  slot_ = slot;
  sides_.clear();
}

void Update::add(std::string_view name, const Tensor& tensor, Access access) {
  require(is_floating(tensor.dtype), "{} is {}: optimisers take floating point tensors", name, tensor);
  require(sides_.size() < kMaxOperands, "an update takes at most {} tensors", kMaxOperands);
  if (!sides_.empty()) {
    const Tensor& first = sides_[0].tensor;
    require(tensor.shape == first.shape, "{} is {}, the parameter is {}: both have one shape", name, tensor, first);
  }
  // Both directions are looked up now, so that running cannot fail.
  sides_.push_back({tensor, access, converter(tensor.dtype, slot_), converter(slot_, tensor.dtype), false});
}

void Update::plan(UpdateKernel kernel) {
  kernel_ = kernel;
  Dims strides[kMaxOperands];
  for (size_t k = 0; k < sides_.size(); ++k) strides[k] = sides_[k].tensor.strides;
  // Axes merge in the order of the parameter's memory: all tensors are walked together, whatever their strides.
  loop_ = make_loop(sides_[0].tensor.shape, {strides, sides_.size()});
  for (size_t k = 0; k < sides_.size(); ++k) {
    sides_[k].direct = sides_[k].tensor.dtype == slot_ && loop_.dense(k);
  }
}

void Update::run(const double* param) const {
  // Each element is computed by itself: where parts are cut shows nowhere.
  parallel_for(loop_.count(), kGrain, [&](int64_t begin, int64_t end) { run_range(begin, end, param); });
}

void Update::run_range(int64_t begin, int64_t end, const double* param) const {
  alignas(64) std::byte buffers[kMaxOperands][kBlock * sizeof(double)];  // NOLINT: filled by gather
  const auto slot_size = static_cast<int64_t>(size_of(slot_));
  void* blocks[kMaxOperands];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t count = std::min(kBlock, end - at);
    // Tensors that lie dense in the slot's dtype are updated in place; the others pass through a block of the stack.
    for (size_t k = 0; k < sides_.size(); ++k) {
      const Side& s = sides_[k];
      blocks[k] = s.direct ? s.tensor.bytes() + at * slot_size : buffers[k];
      if (s.direct || s.access == Access::kWrite) continue;
      gather(loop_, k, s.tensor.bytes(), static_cast<int64_t>(size_of(s.tensor.dtype)), at, count, s.load, buffers[k],
             slot_size);
    }
    kernel_(blocks, count, param);
    for (size_t k = 0; k < sides_.size(); ++k) {
      const Side& s = sides_[k];
      if (s.direct || s.access == Access::kRead) continue;
      scatter(loop_, k, s.tensor.bytes(), static_cast<int64_t>(size_of(s.tensor.dtype)), at, count, s.store, buffers[k],
              slot_size);
    }
  }
}

}  // namespace npu::ops
