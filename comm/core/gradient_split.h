// SPDX-License-Identifier: Apache-2.0
// Which gradients of a group are sent together: in segments, each of which ends at some gradient. What users set stays
// with the group's name for the rest of the process; what wins is shares of the bytes, then numbers of gradients, then
// the default, a cut at 96.54 % of the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace npu::comm {

inline constexpr size_t kMostSegments = 8;

/// Each segment ends at the gradient of that number, from 0 on; what comes behind the last one is a segment of its own.
/// Raises kParameter unless they are 1 to 8 that ascend.
void split_by_index(const std::string& group, std::span<const uint32_t> last);
/// Each segment has about so many percent of the bytes. Raises kParameter unless they are 1 to 8, none below 0, and 100
/// together.
void split_by_size(const std::string& group, std::span<const double> percent);

/// The number of the last gradient of each segment, of gradients of so many bytes in their order: no segment is empty,
/// and the last one ends at the last gradient.
std::vector<size_t> segments(const std::string& group, std::span<const int64_t> bytes);
/// "[0,107] [108,159]", as the log tells segments to users, who count gradients there.
std::string to_string(std::span<const size_t> last);

/// All that decides about segments and what is sent together, for what is kept beyond the process.
std::string said_of_splits();

/// FUSION_TENSOR_SIZE: bytes that are sent together at most.
int64_t most_bytes_together();

namespace detail {
/// For tests: what users set is forgotten.
void forget_splits();
}  // namespace detail

}  // namespace npu::comm
