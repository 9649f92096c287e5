// SPDX-License-Identifier: Apache-2.0
// A grouped product of int8, gated by its own left half and quantised again by the largest magnitude of each row.
#include <vector>

#include "ops/quant/factors.h"
#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

/// out = round(v / out_scale) with v = silu(left half of p) * right half, p = (x @ weight) * weight_scale * x_scale and
/// out_scale the largest magnitude of a row of v over 127. Rows of no group are zeros.
struct GroupedSwiglu final : Delegate {
  std::vector<Tensor> weight, weight_scale, weight_assist_matrix;
  Tensor x, bias, offset, x_scale, smooth_scale, group_list, out, out_scale, out_offset;
  int64_t dequant_mode = 0, dequant_dtype = 0, quant_mode = 0, group_list_type = 0;

  void prepare() override;

 private:
  void check() const;
  std::vector<float> product_;
};

void GroupedSwiglu::check() const {
  for (const auto& [t, name] :
       {std::pair(&bias, "bias"), std::pair(&offset, "offset"), std::pair(&smooth_scale, "smoothScale")})
    require(absent(*t), "{} is {}; the vendor's function takes none yet: leave it out", name, *t);
  for (const Tensor& t : weight_assist_matrix)
    require(absent(t), "weightAssistMatrix is {}: it goes with weights of 4 bits, which are not built", t);
  require(dequant_mode == 0, "dequantMode is {}; only 0, scales of rows and columns, is built", dequant_mode);
  require(dequant_dtype == 0, "dequantDtype is {}; use 0, float32", dequant_dtype);
  require(quant_mode == 0, "quantMode is {}; only 0, a scale for each row, is built", quant_mode);
  require(group_list_type == 0 || group_list_type == 1,
          "groupListType is {}; use 0 for where groups end, 1 for how many rows they have", group_list_type);
  require(weight.size() == 1 && weight_scale.size() == 1, "weight has {} tensors, weightScale {}; give one of each",
          weight.size(), weight_scale.size());
  require(x.dtype == DType::kInt8 && weight[0].dtype == DType::kInt8,
          "x is {}, weight is {}; only int8 by int8 is built", x, weight[0]);
  require(x.rank() == 2 && weight[0].rank() == 3, "x is {}, weight is {}; they are [m, k] and [groups, k, n]", x,
          weight[0]);
  require(out.dtype == DType::kInt8 && out_scale.dtype == DType::kFloat && out_scale.shape == Dims{x.shape[0]},
          "output is {}, outputScale is {}; they are int8 and a float32 for each of {} rows", out, out_scale,
          x.shape[0]);
}

void GroupedSwiglu::prepare() {
  restart();
  check();
  using Tensors = std::vector<Tensor>;
  const int64_t rows = x.shape[0], columns = weight[0].shape[2];
  product_.resize(static_cast<size_t>(rows * columns));
  const Tensor made = make_tensor(product_.data(), DType::kFloat, {rows, columns});
  step("grouped_matmul", with("x", Tensors{x}), with("weight", weight), with("scale", weight_scale),
       with("per_token_scale", Tensors{x_scale}), with("group_list", group_list),
       with("group_list_type", group_list_type), with("split_item", int64_t{3}), with("group_type", int64_t{0}),
       with("out", Tensors{made}));
  step("swiglu_quant", with("self", made), with("activate_left", true), with("quant_mode", std::string("dynamic")),
       with("out", out), with("scale", out_scale));
}

using G = GroupedSwiglu;
NPU_OPERATOR(G, "grouped_swiglu_quant", "quant", in<&G::x>("x"), in<&G::weight>("weight"), optional<&G::bias>("bias"),
             optional<&G::offset>("offset"), in<&G::weight_scale>("weight_scale"),
             optional<&G::weight_assist_matrix>("weight_assist_matrix"), in<&G::x_scale>("x_scale"),
             optional<&G::smooth_scale>("smooth_scale"), in<&G::group_list>("group_list"),
             attr<&G::dequant_mode>("dequant_mode"), attr<&G::dequant_dtype>("dequant_dtype"),
             attr<&G::quant_mode>("quant_mode"), attr<&G::group_list_type>("group_list_type"), out<&G::out>("out"),
             out<&G::out_scale>("out_scale"), optional_out<&G::out_offset>("out_offset"));

}  // namespace
}  // namespace npu::ops
