// SPDX-License-Identifier: Apache-2.0
// uint64 for kernels that compare: their numbers are int64, which has the same order where the highest bit is turned.
#pragma once

#include <limits>

#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {

/// The bits of uint64 as int64.
inline Planned as_signed(Planned planned) {
  planned.type = ValueType::tensor(DType::kInt64), planned.view.dtype = DType::kInt64, planned.literal = nullptr;
  return planned;
}

inline void turn_highest_bit(Lowering& l, const Planned& from, const Planned& to) {
  l.call("bitwise_xor")
      .set("self", from)
      .set("other", number_of(Scalar(std::numeric_limits<int64_t>::min())))
      .set("out", to);
}

/// `in`; of uint64 numbers of int64 in the same order.
inline Planned ordered(Lowering& l, const Planned& in) {
  if (in.dtype() != DType::kUInt64) return in;
  const Planned out = l.scratch(DType::kInt64, in.shape());
  turn_highest_bit(l, as_signed(in), out);
  return out;
}

/// Output `i` of the type of `in`, and where numbers in the order of `ordered(in)` are written for it.
class OrderedResult {
 public:
  OrderedResult(Lowering& l, size_t i, const Planned& in, const Dims& shape)
      : out_(l.make(i, in.dtype(), shape)), wide_(in.dtype() == DType::kUInt64) {}
  Planned rows() const { return wide_ ? as_signed(out_) : out_; }
  /// Behind the steps that write them.
  void store(Lowering& l) const {
    if (wide_ && out_.view.count() > 0) turn_highest_bit(l, rows(), rows());
  }

 private:
  const Planned out_;
  const bool wide_;
};

}  // namespace npu::graph::onnx
