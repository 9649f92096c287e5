// SPDX-License-Identifier: Apache-2.0
// The frame of random operators that draw TensorFlow's own bits: a key and a counter of 128 bits, given as tensors.
#pragma once

#include "ops/random/random_fill.h"

namespace npu::ops {

struct CounterOperator : Operator {
  Tensor key;      ///< uint64[1]
  Tensor counter;  ///< uint64[2], the low half first
  Tensor out;

  void prepare_counter() const {
    require(key.dtype == DType::kUInt64 && key.count() >= 1, "key is {}; it is one uint64", key);
    require(counter.dtype == DType::kUInt64 && counter.rank() == 1 && counter.count() >= 2,
            "counter is {}; it is two uint64", counter);
  }
  /// Read when the work runs: key and counter are the client's state and move on from call to call.
  RandomCounter start() const {
    const auto* low = counter.as<uint64_t>();
    return {low[0], low[counter.strides[0]], *key.as<uint64_t>()};
  }
};

/// A number in [0, 1) from 23 of the word's bits, as TensorFlow makes it.
inline float unit_float(uint32_t word) {
  return std::bit_cast<float>((word & 0x7fffffu) | 0x3f800000u) - 1.0f;  // the mantissa of a number in [1, 2)
}
/// From 52 bits: 20 of the first word, then the second.
inline double unit_double(uint32_t first, uint32_t second) {
  const uint64_t mantissa = (uint64_t{first & 0xfffffu} << 32) | second;
  return std::bit_cast<double>(mantissa | 0x3ff0000000000000u) - 1.0;
}

#define NPU_COUNTER_FIELDS(type) in<&type::key>("key"), in<&type::counter>("counter"), out<&type::out>("out")

}  // namespace npu::ops
