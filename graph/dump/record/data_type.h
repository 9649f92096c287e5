// SPDX-License-Identifier: Apache-2.0
// Element types as dump files and dumped graphs number them (ge.proto), which is not how the C interface does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace npu::graph::record {

/// One number of the protobuf enumeration.
struct DataType {
  int32_t number;
  std::string_view name;  ///< as graph texts and statistics spell it: DT_FLOAT
  std::string_view word;  ///< as names of converted files spell it: float32
  int32_t bits;           ///< of one element, 0 where it has no fixed size
  DType dtype;            ///< ours, kUndefined where we have none
};

/// All of them; each one's number is its place.
std::span<const DataType> data_types();
/// The type of that number; those that nobody defined are as number 0 (DT_UNDEFINED).
const DataType& data_type(int32_t number);
/// The type of that name (DT_FLOAT), or nothing.
const DataType* find_data_type(std::string_view name);
/// The number for one of our types; 0 for kUndefined.
int32_t data_type_of(DType dtype);

/// Bytes that `count` elements fill; those of less than a byte lie packed.
inline uint64_t bytes_of(const DataType& type, uint64_t count) {
  const auto bits = static_cast<uint64_t>(type.bits);
  return bits % 8 == 0 ? count * (bits / 8) : (count * bits + 7) / 8;
}

}  // namespace npu::graph::record
