// SPDX-License-Identifier: Apache-2.0
// Updates are quantised and written over slices of an int8 tensor, as scatter_update writes them: what a cache of keys
// and values takes each step.
#include <string>
#include <vector>

#include "ops/operator.h"
#include "ops/quant/factors.h"
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

/// self[i, …, indices[i] …] = round(updates[i] / quant_scales + quant_zero_points), scales along the last dimension.
struct QuantScatter final : Delegate {
  Tensor self, indices, updates, quant_scales, quant_zero_points;
  int64_t axis = -2, quant_axis = -1, reduction = 1;
  std::string round_mode = "rint";

  void prepare() override {
    restart();
    require(self.dtype == DType::kInt8, "self is {}; use int8", self);
    require(reduction == 1, "reduction is {}; only 1 (update) is built", reduction);
    require(updates.rank() >= 1 && wrap_dim(quant_axis, updates.rank()) + 1 == updates.rank(),
            "quant_axis is {}, updates is {}: it must be the last dimension", quant_axis, updates);
    require(indices.rank() == 1, "indices is {}; only one position for each entry of dimension 0 is built", indices);
    numbers_.resize(static_cast<size_t>(updates.count()));
    const Tensor made = make_tensor(numbers_.data(), DType::kInt8, updates.shape);
    step("quantise", with("self", updates), with("scale", quant_scales), with("offset", quant_zero_points),
         with("divide", true), with("round_mode", round_mode), with("out", made));
    step("scatter_update", with("self", self), with("indices", indices), with("updates", made), with("axis", axis),
         with("out", self));
  }

 private:
  std::vector<int8_t> numbers_;  ///< the updates, quantised
};

NPU_OPERATOR(QuantScatter, "quant_scatter", "quant", inout<&QuantScatter::self>("self"),
             in<&QuantScatter::indices>("indices"), in<&QuantScatter::updates>("updates"),
             in<&QuantScatter::quant_scales>("quant_scales"),
             optional<&QuantScatter::quant_zero_points>("quant_zero_points"), attr<&QuantScatter::axis>("axis"),
             attr<&QuantScatter::quant_axis>("quant_axis"), attr<&QuantScatter::reduction>("reduction"),
             attr<&QuantScatter::round_mode>("round_mode"));

}  // namespace
}  // namespace npu::ops
