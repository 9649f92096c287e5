// SPDX-License-Identifier: Apache-2.0
// The arithmetic of collectives: one element of each rank's buffer in, their sum, product, maximum or minimum out, to
// one rank or to all. Ranks are taken in the order 0, 1, 2 …, so every rank and every run gets the same bits. float16
// and bfloat16 are computed in float32 and rounded once; integers wrap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/core/call.h"

namespace npu::comm {

/// Whether elements of `dtype` can be reduced: integers of 8 to 64 bits, float16, bfloat16, float32, float64.
bool can_reduce(DType dtype);

/// outputs[o][i] = inputs[0][i] op inputs[1][i] op … for `count` elements; outputs may be the inputs themselves, which
/// may have any addresses.
/// `past_cache`: the outputs are so large that they go to memory without passing the cache.
void reduce(DType dtype, ReduceOp op, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
            uint64_t count, bool past_cache);

/// Data is combined with what is there while it comes: the sum of two is `own` op data, or data op `own`.
struct Merge {
  DType dtype = DType::kFloat;
  ReduceOp op = ReduceOp::kSum;
  const std::byte* own = nullptr;  ///< may be where the sum goes
  bool own_first = true;
  bool past_cache = false;  ///< as for reduce()
};
/// Whole elements, `offset` bytes behind the first of `own` and `sum`.
void merge(const Merge& with, std::byte* sum, uint64_t offset, std::span<const std::byte> data);

/// A copy; large ones go past the cache.
void copy(std::byte* to, const std::byte* from, uint64_t bytes);

}  // namespace npu::comm
