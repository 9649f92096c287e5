// SPDX-License-Identifier: Apache-2.0
#include "ops/index/writing.h"

namespace npu::ops {

const Tensor& Writing::begin(DType buffer) {
  values_.clear();
  require(self.shape == out.shape, "self is {}, out is {}; both have the same shape", self, out);
  const bool same = self.bytes() == out.bytes() && self.strides == out.strides && self.dtype == out.dtype;
  start_ = {};
  if (!same || buffer != DType::kUndefined) start_.tensor = self;
  target_ = buffer == DType::kUndefined ? out : make_tensor(nullptr, buffer, out.shape);
  return target_;
}

const Tensor& Writing::begin_with(const Scalar& value, DType buffer) {
  values_.clear();
  start_ = {};
  start_.scalar = value;
  target_ = buffer == DType::kUndefined ? out : make_tensor(nullptr, buffer, out.shape);
  return target_;
}

Tensor Writing::constant(const Scalar& value, const Dims& shape) {
  values_.push_back(std::make_shared<std::vector<std::byte>>(16));
  Tensor one = make_tensor(values_.back()->data(), target_.dtype, {});
  Move fill;
  fill.plan(Operand{.tensor = {}, .scalar = value}, one);
  fill.run();
  return one.expanded(shape);
}

void Writing::before(const std::vector<int64_t>&, const Tensor&) {}
void Writing::after(const std::vector<int64_t>&, const Tensor&) {}

void Writing::run() {
  const std::vector<int64_t> at = positions();  // raises before anything is written
  std::vector<std::byte> memory;
  Tensor target = target_;
  const bool buffered = target.data == nullptr && out.data != nullptr;
  if (buffered) {
    memory.resize(static_cast<size_t>(out.count()) * size_of(target.dtype));
    target.data = memory.data();
  }
  Move copy;
  if (start_.defined()) {
    copy.plan(start_, target);
    copy.run();
  }
  before(at, target);
  move.run(at, target.bytes());
  after(at, target);
  if (!buffered) return;
  copy.plan(target, out);
  copy.run();
}

IndexedMode scatter_mode(int64_t reduction) {
  switch (reduction) {
    case 0: return IndexedMode::kPut;
    case 1:
    case 5: return IndexedMode::kAdd;
    case 2: return IndexedMode::kMultiply;
    case 3: return IndexedMode::kMaximum;
    case 4: return IndexedMode::kMinimum;
    default:
      fail(Code::kNnInvalidParam, "reduction is {}; use 0 (none), 1 (add), 2 (multiply), 3 (max), 4 (min) or 5 (mean)",
           reduction);
  }
}

}  // namespace npu::ops
