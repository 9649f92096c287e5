// SPDX-License-Identifier: Apache-2.0
#include "ops/index/writing.h"

namespace npu::ops {

const Tensor& Writing::begin(DType buffer) {
  values_.clear();
  require(self.shape == out.shape, "self is {}, out is {}; both have the same shape", self, out);
  const bool same = self.bytes() == out.bytes() && self.strides == out.strides && self.dtype == out.dtype;
  // Where self is out already, nothing has to be copied first.
  start_ = {};
  if (!same || buffer != DType::kUndefined) start_.tensor = self;
  // No memory yet: a buffer is taken when the work runs.
  target_ = buffer == DType::kUndefined ? out : make_tensor(nullptr, buffer, out.shape);
  return target_;
}

const Tensor& Writing::begin_with(const Scalar& value, DType buffer) {
  // self is not read at all, so it may be undefined.
  values_.clear();
  start_ = {};
  start_.scalar = value;
  target_ = buffer == DType::kUndefined ? out : make_tensor(nullptr, buffer, out.shape);
  return target_;
}

Tensor Writing::constant(const Scalar& value, const Dims& shape) {
  // 16 bytes hold an element of any dtype. The dtype is that of what is written, so no write has to convert it.
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
  // Of an empty output there is nothing to buffer.
  const bool buffered = target.data == nullptr && out.data != nullptr;
  if (buffered) {
    memory.resize(static_cast<size_t>(out.count()) * size_of(target.dtype));
    target.data = memory.data();
  }
  Move copy;
  // The first copy widens into the buffer; the one at the end rounds, once, whatever was added in between.
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
    // A mean is a sum that its operator divides afterwards.
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
