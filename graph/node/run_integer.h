// SPDX-License-Identifier: Apache-2.0
// Integers that only the run tells: positions, lengths.
#pragma once

#include <vector>

#include "base/scalar.h"
#include "graph/run/frame.h"

namespace npu::graph {

inline int64_t integer(Frame& frame, const Planned& planned) {
  const Tensor tensor = frame.tensor(planned);
  return Scalar(tensor.bytes(), tensor.dtype).to_int();
}

/// Of int32 or int64 elements, any strides.
inline std::vector<int64_t> integers(Frame& frame, const Planned& planned) {
  Value dense;
  Tensor tensor = frame.tensor(planned);
  if (!tensor.contiguous()) tensor = (dense = copy_of(frame.device(), tensor)).tensor;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < tensor.count(); ++i)
    out.push_back(tensor.dtype == DType::kInt64 ? tensor.as<int64_t>()[i] : tensor.as<int32_t>()[i]);
  return out;
}

}  // namespace npu::graph
