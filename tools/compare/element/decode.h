// SPDX-License-Identifier: Apache-2.0
// Elements of every type as float, which is what the metrics are defined on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/dump/record/data_type.h"

namespace npu::compare {

using Bytes = std::span<const std::byte>;
using graph::record::DataType;

/// Whether elements of the type stand for numbers that we know.
bool can_decode(const DataType& type);
/// `count` elements of `from`, beginning with element `first`, all of which must be there. Of complex numbers the real
/// part. Elements of less than a byte: the first one in the low bits, but uint1 in the highest, as published tools read
/// it.
void decode(const DataType& type, Bytes from, uint64_t first, size_t count, float* to);
/// The same, with all digits of types that float does not hold.
void decode(const DataType& type, Bytes from, uint64_t first, size_t count, double* to);

}  // namespace npu::compare
