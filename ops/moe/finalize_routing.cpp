// SPDX-License-Identifier: Apache-2.0
// What the experts made of a token, weighed and added up: out = skip1 + skip2 + sum over k of scales * (row + bias).
#include "ops/index/token_rows.h"

namespace npu::ops {
namespace {

struct FinalizeRouting final : TokenRows {
  Tensor rows, row_idx, skip1, skip2, bias, scales, expert_idx, unpermuted, alpha1, alpha2, constant, out;
  std::vector<int64_t> zero_experts, copy_experts, constant_experts;
  int64_t drop_pad_mode = 0, k = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + 2 * rows.count(); }

 private:
  void check_reserved() const;
  float number(const Tensor& t, int64_t token, int64_t choice) const {
    return static_cast<float>(load_element(t, token * t.strides[0] + choice * t.strides[1]));
  }

  int64_t k_ = 1;
  Rows from_, to_, skip1_, skip2_, bias_;
};

void FinalizeRouting::check_reserved() const {
  for (const Tensor* t : {&unpermuted, &alpha1, &alpha2, &constant})
    require(!t->defined() || t->count() == 0,
            "x, constExpertAlpha1, constExpertAlpha2 or constExpertV is given: copied "
            "and constant experts are not built; leave them out");
  require(zero_experts.empty() && copy_experts.empty() && constant_experts.empty(),
          "zeroExpertRange, copyExpertRange or constantExpertRange is given: such experts are not built; leave it out");
}

void FinalizeRouting::prepare() {
  check_reserved();
  require(drop_pad_mode >= 0 && drop_pad_mode <= 3,
          "dropPadMode is {}; use 0 or 1 for indices by choices, 2 or 3 by tokens, 1 and 3 for a capacity of experts",
          drop_pad_mode);
  from_ = rows_of(rows, "expandedX", lead_of(rows, "expandedX"));
  to_ = rows_of(out, "out");
  const int64_t tokens = out.shape[0], slots = row_idx.count(), hidden = from_.length();
  k_ = scales.defined() ? scales.dim(-1) : tokens == 0 ? 1 : slots / tokens;
  require(row_idx.dtype == DType::kInt32 && row_idx.rank() == 1 && slots == tokens * k_ && out.shape[1] == hidden,
          "expandedRowIdx is {}, out is {}, k is {}: they do not belong together", row_idx, out, k_);
  require(!skip2.defined() || skip1.defined(), "x2 is given without x1; give x1, or leave both out");
  require(!bias.defined() || expert_idx.defined(), "expertIdx is null; bias needs it");
  require(!bias.defined() || drop_pad_mode == 0 || drop_pad_mode == 2,
          "bias is given with dropPadMode {}: what a dropped row gets of it is not documented; use 0 or 2",
          drop_pad_mode);
  if (scales.defined()) check_shape(scales, "scales", {tokens, k_});
  if (expert_idx.defined()) check_shape(expert_idx, "expertIdx", {tokens, k_});
  skip1_ = skip2_ = bias_ = Rows();
  for (auto [t, name, to] : {std::tuple{&skip1, "x1", &skip1_}, std::tuple{&skip2, "x2", &skip2_}}) {
    if (!t->defined()) continue;
    check_shape(*t, name, out.shape);
    *to = rows_of(*t, name);
  }
  if (!bias.defined()) return;
  bias_ = rows_of(bias, "bias");
  require(bias.shape[1] == hidden, "bias is {}; it is [experts, {}]", bias, hidden);
}

void FinalizeRouting::run() {
  const std::vector<int64_t> where = read_whole(row_idx);
  const int64_t tokens = out.shape[0];
  fill_rows(to_, [&](int64_t token, float* made) {
    if (skip1.defined()) add_row(skip1_, token, 1, made);
    if (skip2.defined()) add_row(skip2_, token, 1, made);
    for (int64_t j = 0; j < k_; ++j) {
      const int64_t slot = drop_pad_mode >= 2 ? token * k_ + j : j * tokens + token;
      const float share = scales.defined() ? number(scales, token, j) : 1;
      add_row(from_, where[static_cast<size_t>(slot)], share, made);
      if (bias.defined()) add_row(bias_, static_cast<int64_t>(number(expert_idx, token, j)), share, made);
    }
  });
}

NPU_OPERATOR(FinalizeRouting, "moe_finalize_routing", "moe", in<&FinalizeRouting::rows>("rows"),
             in<&FinalizeRouting::row_idx>("row_idx"), optional<&FinalizeRouting::skip1>("skip1"),
             optional<&FinalizeRouting::skip2>("skip2"), optional<&FinalizeRouting::bias>("bias"),
             optional<&FinalizeRouting::scales>("scales"), optional<&FinalizeRouting::expert_idx>("expert_idx"),
             optional<&FinalizeRouting::unpermuted>("unpermuted"), optional<&FinalizeRouting::alpha1>("alpha1"),
             optional<&FinalizeRouting::alpha2>("alpha2"), optional<&FinalizeRouting::constant>("constant"),
             attr<&FinalizeRouting::drop_pad_mode>("drop_pad_mode"),
             attr<&FinalizeRouting::zero_experts>("zero_experts"), attr<&FinalizeRouting::copy_experts>("copy_experts"),
             attr<&FinalizeRouting::constant_experts>("constant_experts"), attr<&FinalizeRouting::k>("k"),
             out<&FinalizeRouting::out>("out"));

}  // namespace
}  // namespace npu::ops
