// SPDX-License-Identifier: Apache-2.0
#include "graph/value/room.h"

#include <algorithm>

#include "base/error.h"

namespace npu::graph {
namespace {

// What a process can address. Many tensors of this size together are counted in 64 bits, too.
constexpr int64_t kMostBytes = int64_t{1} << 47;

}  // namespace

int64_t room_of(DType dtype, const Dims& shape) {
  require(std::ranges::all_of(shape, [](int64_t size) { return size >= 0; }),
          "a tensor of {} is requested; sizes are at least 0", shape);
  const int64_t count = count_of(shape);
  const auto size = static_cast<int64_t>(size_of(dtype));
  if (size > 0 && count > kMostBytes / size)
    fail(Code::kNnInvalidParam, "a tensor of {} with elements of {} bytes is larger than any memory", shape, size);
  return count * size;
}

}  // namespace npu::graph
