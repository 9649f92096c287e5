// SPDX-License-Identifier: Apache-2.0
// Random words turned into numbers. `count` results come from `count` words, or from 2 * count words where the slot is
// float64 or int64 ("wide"); normals are made in pairs, so `count` is even there (buffers are rounded up).
#pragma once

#include <cstdint>

namespace npu::ops {

/// Uniform in [from, to) with `bits` random bits: 24 for float32, 11 for float16, 8 for bfloat16, as torch does.
void uniform_floats(const uint32_t* words, int64_t count, int bits, double from, double to, float* out);
/// Uniform in [from, to) with 53 random bits. Wide.
void uniform_doubles(const uint32_t* words, int64_t count, double from, double to, double* out);
/// Standard normal by Box and Muller.
void normal_floats(const uint32_t* words, int64_t count, float* out);
/// Wide.
void normal_doubles(const uint32_t* words, int64_t count, double* out);
/// from + word % range; range 0 means all 2^64 values. Wide when `wide`, which a range above 2^28 needs.
void uniform_integers(const uint32_t* words, int64_t count, int64_t from, uint64_t range, bool wide, int64_t* out);
/// Bit i (least significant first) of `bits` is 1 where the last 24 bits of word i, those of `uniform_floats`, are
/// below `limit`. `count` is a multiple of 8.
void keep_bits(const uint32_t* words, int64_t count, uint32_t limit, uint8_t* bits);

}  // namespace npu::ops
