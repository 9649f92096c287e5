// SPDX-License-Identifier: Apache-2.0
// Shapes and positions as TensorFlow prints them in its messages: [2,3].
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>

#include "base/dims.h"

namespace npu::graph {

inline std::string text_of(std::span<const int64_t> sizes) { return fmt::format("[{}]", fmt::join(sizes, ",")); }
inline std::string text_of(const Dims& shape) { return text_of(std::span(shape.data(), shape.size())); }

}  // namespace npu::graph
