// SPDX-License-Identifier: Apache-2.0
// The frame of random operators: fields of the generator's state, and the walk over elements in row-major order.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "base/wrap.h"
#include "ops/operator.h"
#include "ops/random/philox.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {

inline constexpr int64_t kRandomBlock = 512;      ///< elements made at a time
inline constexpr int64_t kRandomGrain = 1 << 14;  ///< elements of a parallel part, a multiple of kRandomBlock

/// An operator that draws. While a graph is captured the client gives seed and offset as device tensors of one int64
/// element, plus an offset inside the graph.
struct RandomOperator : Operator {
  int64_t seed = 0;
  int64_t offset = 0;
  Tensor seed_tensor;
  Tensor offset_tensor;

  /// Checks the fields of the state.
  void prepare_state() const {
    for (const Tensor* t : {&seed_tensor, &offset_tensor}) {
      require(!t->defined() || ((t->dtype == DType::kInt64 || t->dtype == DType::kUInt64) && t->count() == 1),
              "the generator's state is {}; seed and offset are int64 tensors of one element", *t);
    }
  }
  /// The state of this run.
  RandomState state() const {
    // Read when the work runs: a captured graph is replayed with other numbers in the same tensors.
    const int64_t s = seed_tensor.defined() ? *seed_tensor.as<int64_t>() : seed;
    const int64_t o = offset_tensor.defined() ? wrap_add(*offset_tensor.as<int64_t>(), offset) : offset;
    return {static_cast<uint64_t>(s), static_cast<uint64_t>(o)};
  }
};

/// Calls `body(first, count, words)` for consecutive runs of at most kRandomBlock of `total` elements, on any threads.
/// `words` holds words_per_element (1 or 2) words for each, and words for one further element.
template <class State, class F>
void random_blocks(State state, int64_t total, int64_t words_per_element, F&& body) {
  parallel_for(total, kRandomGrain, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[2 * kRandomBlock];  // NOLINT: filled by philox
    for (int64_t at = begin; at < end; at += kRandomBlock) {
      const int64_t n = std::min(kRandomBlock, end - at);
      const int64_t blocks = (n * words_per_element + 3) / 4;
      // Words follow from an element's number alone: neither parts nor strides show in them.
      const auto first = static_cast<uint64_t>(at * words_per_element / 4);
      if constexpr (std::is_same_v<State, RandomCounter>)
        philox(state.after(first), blocks, words);
      else
        philox(state, first, blocks, words);
      body(at, n, words);
    }
  });
}

/// The dtype random values of `dtype` are made in: float64 for float64, float32 for all others.
inline DType random_slot(DType dtype) { return dtype == DType::kDouble ? DType::kDouble : DType::kFloat; }

/// Random bits of a uniform number in `dtype`: its mantissa's, as torch does.
inline int random_bits(DType dtype) { return dtype == DType::kHalf ? 11 : dtype == DType::kBFloat16 ? 8 : 24; }

/// A complex tensor as its real and imaginary parts, which are drawn one after the other; another one as it is.
inline Tensor drawn_parts(const Tensor& tensor) {
  if (!is_complex(tensor.dtype)) return tensor;
  Tensor parts = tensor;
  parts.dtype = real_of(tensor.dtype);
  parts.offset *= 2;
  parts.storage_elements *= 2;
  for (size_t i = 0; i < parts.strides.size(); ++i) parts.strides[i] *= 2;
  parts.shape.push_back(2);
  parts.strides.push_back(1);
  return parts;
}

#define NPU_RANDOM_FIELDS(type)                                                                          \
  attr<&type::seed>("seed"), attr<&type::offset>("offset"), optional<&type::seed_tensor>("seed_tensor"), \
      optional<&type::offset_tensor>("offset_tensor")

}  // namespace npu::ops
