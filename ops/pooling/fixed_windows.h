// SPDX-License-Identifier: Apache-2.0
// Max pooling with windows of one size: the fields that its operators share.
#pragma once

#include <vector>

#include "ops/operator.h"
#include "ops/pooling/window.h"

namespace npu::ops {

struct FixedWindows : Operator {
  Tensor self;
  std::vector<int64_t> kernel_size, stride, padding, dilation;
  bool ceil_mode = false;
  int64_t spatial = 2;

  size_t axes() const { return static_cast<size_t>(spatial); }
  /// Raises 161002 when the sizes make no sense.
  PoolWindow windows() const { return fixed_window(self, axes(), {kernel_size, stride, padding, dilation, ceil_mode}); }
};

/// `fields` and those of FixedWindows.
inline std::vector<Field> with_windows(std::vector<Field> fields) {
  using W = FixedWindows;
  fields.insert(fields.begin(), {in<&W::self>("self"), attr<&W::kernel_size>("kernel_size"), attr<&W::stride>("stride"),
                                 attr<&W::padding>("padding"), attr<&W::dilation>("dilation"),
                                 attr<&W::ceil_mode>("ceil_mode"), attr<&W::spatial>("spatial")});
  return fields;
}

}  // namespace npu::ops
