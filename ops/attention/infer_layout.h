// SPDX-License-Identifier: Apache-2.0
// Layouts of attention for inference: one word for queries, keys and values, and for the result where that lies
// otherwise ("BNSD_BSND": heads first in, sequence first out).
#pragma once

#include <string>

#include "base/tensor.h"

namespace npu::ops {

struct InferLayout {
  std::string in, out;

  InferLayout() = default;
  /// Raises 161002 for a word that is not built.
  explicit InferLayout(const std::string& name);
  /// Whether sequences lie one behind the other, ending where the client says.
  bool packed() const { return in == "TND" || in == "NTD"; }
};

/// `tensor` seen as [B, N, S, D], or [1, N, T, D] where sequences are packed. `layout` is one of those of head_view,
/// or NSD, NBSD, TND, NTD.
Tensor infer_view(const Tensor& tensor, const std::string& layout, int64_t heads, const char* name);

}  // namespace npu::ops
