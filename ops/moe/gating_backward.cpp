// SPDX-License-Identifier: Apache-2.0
#include "ops/index/token_rows.h"

namespace npu::ops {
namespace {

/// Of the sigmoid form: y = factor * s / (sum of the chosen s + eps).
struct GatingTopKBackward final : TokenRows {
  Tensor x_norm, grad_y, expert_idx, out;
  int64_t renorm = 0, norm_type = 0;
  double routed_scaling_factor = 1, eps = 1e-20;
  Rows norms, upper, to;

  void prepare() override {
    require(norm_type == 1 && renorm == 0, "normType is {}, renorm {}; the function knows 1 (sigmoid) and 0 only",
            norm_type, renorm);
    norms = rows_of(x_norm, "xNorm");
    upper = rows_of(grad_y, "gradY");
    to = rows_of(out, "gradX");
    require(expert_idx.shape == grad_y.shape && expert_idx.dtype == DType::kInt32 && upper.count() == norms.count(),
            "expertIdx is {}, gradY is {}, xNorm is {}: they do not belong together", expert_idx, grad_y, x_norm);
    require(x_norm.dtype == DType::kFloat && out.dtype == grad_y.dtype, "xNorm is {}, gradX is {}; use float32 and {}",
            x_norm, out, grad_y.dtype);
    check_shape(out, "gradX", x_norm.shape);
  }
  void run() override {
    const std::vector<int64_t> picks = read_whole(expert_idx);
    const int64_t k = upper.length(), experts = norms.length();
    fill_rows(to, [&](int64_t row, float* made) {
      const Scratch<float> s(experts), g(k);
      copy_row(norms, row, s);
      copy_row(upper, row, g);
      double sum = eps, weighed = 0;
      const auto pick = [&](int64_t j) { return picks[static_cast<size_t>(row * k + j)]; };
      const auto there = [&](int64_t j) { return pick(j) >= 0 && pick(j) < experts; };
      for (int64_t j = 0; j < k; ++j) {
        if (!there(j)) continue;
        sum += s[pick(j)];
        weighed += static_cast<double>(g[j]) * s[pick(j)];
      }
      for (int64_t j = 0; j < k; ++j) {
        if (!there(j)) continue;
        const double value = s[pick(j)], slope = routed_scaling_factor / sum * (g[j] - weighed / sum);
        made[pick(j)] += static_cast<float>(slope * value * (1 - value));
      }
    });
  }
  int64_t cost() const override { return 1000 + 10 * x_norm.count(); }
};

NPU_OPERATOR(GatingTopKBackward, "moe_gating_top_k_backward", "moe", in<&GatingTopKBackward::x_norm>("x_norm"),
             in<&GatingTopKBackward::grad_y>("grad_y"), in<&GatingTopKBackward::expert_idx>("expert_idx"),
             attr<&GatingTopKBackward::renorm>("renorm"), attr<&GatingTopKBackward::norm_type>("norm_type"),
             attr<&GatingTopKBackward::routed_scaling_factor>("routed_scaling_factor"),
             attr<&GatingTopKBackward::eps>("eps"), out<&GatingTopKBackward::out>("out"));

}  // namespace
}  // namespace npu::ops
