// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace npu::graph::tensorflow {

/// The checksum of Castagnoli over `bytes`, going on from that of what stands before them.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);
/// As TensorFlow's files keep it, so that a checksum over bytes that hold checksums stays a good one.
uint32_t masked(uint32_t crc);

}  // namespace npu::graph::tensorflow
