// SPDX-License-Identifier: Apache-2.0
#include "graph/model/model.h"

#include "graph/model/code.h"

namespace npu::graph::model {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 62;

}  // namespace

int64_t bytes_of(DType dtype, const Dims& shape) {
  auto bytes = static_cast<int64_t>(size_of(dtype));
  for (const int64_t size : shape)
    if (size < 0) return 0;
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > kMostBytes)
      fail(kDamagedModel, "a tensor of {} elements along its axes is larger than any memory", shape);
  return bytes;
}

}  // namespace npu::graph::model
