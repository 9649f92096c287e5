// SPDX-License-Identifier: Apache-2.0
// Tokens that came from other ranks brought into the order of experts, and small tables of experts.
#include <algorithm>

#include "ops/index/token_rows.h"

namespace npu::ops {
namespace {

/// Tokens lie rank by rank and within a rank expert by expert; afterwards expert by expert, then rank by rank.
struct ReRouting final : TokenRows {
  Tensor tokens, counts, scales, out, out_scales, token_idx, expert_tokens;
  int64_t expert_token_num_type = 1, idx_type = 0;
  Rows from, to;

  void prepare() override {
    from = rows_or_whole(tokens, "tokens");
    to = rows_or_whole(out, "permuteTokens");
    check_shape(out, "permuteTokens", tokens.shape);
    require(out.dtype == tokens.dtype, "permuteTokens is {}, tokens is {}", out, tokens);
    require(counts.rank() == 2 && is_integer(counts.dtype), "expertTokenNumPerRank is {}; use int32[ranks, experts]",
            counts);
    require(expert_token_num_type == 0 || expert_token_num_type == 1,
            "expertTokenNumType is {}; use 0 for ends, 1 for "
            "counts",
            expert_token_num_type);
    require(idx_type == 0, "idxType is {}; use 0, the place of each token before", idx_type);
    check_shape(token_idx, "permuteTokenIdx", {tokens.shape[0]});
    check_shape(expert_tokens, "expertTokenNum", {counts.shape[1]});
    check_slots(token_idx, "permuteTokenIdx"), check_slots(expert_tokens, "expertTokenNum");
    if (!scales.defined()) return;
    check_shape(scales, "perTokenScales", {tokens.shape[0]});
    require(scales.dtype == DType::kFloat, "perTokenScales is {}; use float32", scales);
    check_shape(out_scales, "permutePerTokenScales", scales.shape);
  }
  void run() override {
    const std::vector<int64_t> sizes = read_whole(counts);
    const auto ranks = static_cast<size_t>(counts.shape[0]), experts = static_cast<size_t>(counts.shape[1]);
    std::vector<int64_t> begin(sizes.size(), 0), source, totals(experts, 0);
    for (size_t i = 1; i < sizes.size(); ++i) begin[i] = begin[i - 1] + std::max<int64_t>(sizes[i - 1], 0);
    for (size_t e = 0; e < experts; ++e) {
      for (size_t r = 0; r < ranks; ++r) {
        totals[e] += sizes[r * experts + e];
        for (int64_t i = 0; i < sizes[r * experts + e] && static_cast<int64_t>(source.size()) < from.count(); ++i)
          source.push_back(begin[r * experts + e] + i);
      }
    }
    source.resize(static_cast<size_t>(from.count()), -1);
    for (size_t e = 1; expert_token_num_type == 0 && e < experts; ++e) totals[e] += totals[e - 1];
    write(totals, expert_tokens);
    write(source, token_idx);
    fill_rows(to, [&](int64_t row, float* made) { copy_row(from, source[static_cast<size_t>(row)], made); });
    for (int64_t row = 0; scales.defined() && row < from.count(); ++row) {
      const int64_t at = source[static_cast<size_t>(row)];
      const bool there = at >= 0 && at < from.count();
      store_element(out_scales, row * out_scales.strides[0], there ? load_element(scales, at * scales.strides[0]) : 0);
    }
  }
  int64_t cost() const override { return 1000 + 2 * tokens.count(); }
};

/// Behind which row of sorted experts each expert ends.
struct ComputeExpertTokens final : TokenRows {
  Tensor sorted, out;
  int64_t num_expert = 1;

  void prepare() override {
    require(sorted.rank() == 1 && sorted.dtype == DType::kInt32 && out.dtype == DType::kInt32,
            "sortedExperts is {}, out is {}; use int32 and one axis", sorted, out);
    require(num_expert > 0, "numExperts is {}; there must be one", num_expert);
    check_shape(out, "out", {num_expert});
  }
  void run() override {
    const std::vector<int64_t> experts = read_whole(sorted);
    std::vector<int64_t> ends;
    for (int64_t e = 0; e < num_expert; ++e) ends.push_back(std::ranges::upper_bound(experts, e) - experts.begin());
    write(ends, out);
  }
  int64_t cost() const override { return 1000 + 4 * sorted.count(); }
};

/// The rank at which a copy of a chosen expert lies, and which choices are too small to be sent anywhere.
struct UpdateExpert final : TokenRows {
  Tensor expert_ids, eplb_table, scales, threshold, active, out, out_active;
  int64_t local_rank_id = 0, world_size = 0, balance_mode = 0;

  void prepare() override {
    require(expert_ids.rank() == 2 && (expert_ids.dtype == DType::kInt32 || expert_ids.dtype == DType::kInt64) &&
                out.dtype == expert_ids.dtype,
            "expertIds is {}, balancedExpertIds is {}; use int32 or int64 [tokens, k]", expert_ids, out);
    require(eplb_table.rank() == 2 && eplb_table.dtype == DType::kInt32 && eplb_table.shape[1] >= 2,
            "eplbTable is {}; it is int32 [experts, 1 + copies]", eplb_table);
    require(balance_mode == 0 || balance_mode == 1, "balanceMode is {}; use 0 (by rank) or 1 (by token)", balance_mode);
    require(balance_mode == 1 || (local_rank_id >= 0 && local_rank_id < world_size),
            "localRankId is {}, worldSize {}; balanceMode 0 needs both", local_rank_id, world_size);
    check_shape(out, "balancedExpertIds", expert_ids.shape);
    require(scales.defined() == threshold.defined(), "expertScales or pruningThreshold is null; give both or none");
    require(scales.defined() || !active.defined(), "activeMask is given without expertScales; give both or none");
    if (!scales.defined()) return;
    check_shape(scales, "expertScales", expert_ids.shape);
    require(is_floating(scales.dtype) && threshold.dtype == DType::kFloat && threshold.count() == expert_ids.shape[1] &&
                (threshold.rank() == 1 || threshold.rank() == 2),
            "pruningThreshold is {}; it has a float32 for each of {} choices", threshold, expert_ids.shape[1]);
    check_shape(out_active, "balancedActiveMask", expert_ids.shape);
    if (active.defined()) check_shape(active, "activeMask", {expert_ids.shape[0]});
  }
  void run() override {
    const std::vector<int64_t> ids = read_whole(expert_ids), table = read_whole(eplb_table);
    const int64_t tokens = expert_ids.shape[0], k = expert_ids.shape[1], width = eplb_table.shape[1];
    std::vector<int64_t> placed(ids.size());
    for (int64_t i = 0; i < tokens * k; ++i) {
      const int64_t row = std::clamp<int64_t>(ids[static_cast<size_t>(i)], 0, eplb_table.shape[0] - 1) * width;
      const int64_t copies = std::max<int64_t>(table[static_cast<size_t>(row)], 1);
      const int64_t each = (world_size + copies - 1) / copies;
      const int64_t copy = balance_mode == 0 ? local_rank_id / std::max<int64_t>(each, 1) : i / k % copies;
      placed[static_cast<size_t>(i)] = table[static_cast<size_t>(row + std::min(copy + 1, width - 1))];
    }
    write(placed, out);
    if (scales.defined()) prune(tokens, k);
  }
  int64_t cost() const override { return 1000 + 20 * expert_ids.count(); }

 private:
  void prune(int64_t tokens, int64_t k) const {
    const std::vector<int64_t> on = active.defined() ? read_whole(active) : std::vector<int64_t>();
    std::vector<int64_t> kept;
    for (int64_t t = 0; t < tokens; ++t) {
      const auto share = [&](int64_t j) {
        return static_cast<float>(load_element(scales, t * scales.strides[0] + j * scales.strides[1]));
      };
      float sum = 0;
      for (int64_t j = 0; j < k; ++j) sum += share(j);
      const bool whole = on.empty() || on[static_cast<size_t>(t)] != 0;
      for (int64_t j = 0; j < k; ++j)
        kept.push_back(whole &&
                       share(j) >= static_cast<float>(load_element(threshold, j * threshold.strides.back())) * sum);
    }
    write(kept, out_active);
  }
};

NPU_OPERATOR(ReRouting, "moe_re_routing", "moe", in<&ReRouting::tokens>("tokens"), in<&ReRouting::counts>("counts"),
             optional<&ReRouting::scales>("scales"), attr<&ReRouting::expert_token_num_type>("expert_token_num_type"),
             attr<&ReRouting::idx_type>("idx_type"), out<&ReRouting::out>("out"),
             optional_out<&ReRouting::out_scales>("out_scales"), out<&ReRouting::token_idx>("token_idx"),
             out<&ReRouting::expert_tokens>("expert_tokens"))
    .is(kMovesBits);
NPU_OPERATOR(ComputeExpertTokens, "moe_compute_expert_tokens", "moe", in<&ComputeExpertTokens::sorted>("sorted"),
             attr<&ComputeExpertTokens::num_expert>("num_expert"), out<&ComputeExpertTokens::out>("out"));
NPU_OPERATOR(UpdateExpert, "moe_update_expert", "moe", in<&UpdateExpert::expert_ids>("expert_ids"),
             in<&UpdateExpert::eplb_table>("eplb_table"), optional<&UpdateExpert::scales>("scales"),
             optional<&UpdateExpert::threshold>("threshold"), optional<&UpdateExpert::active>("active"),
             attr<&UpdateExpert::local_rank_id>("local_rank_id"), attr<&UpdateExpert::world_size>("world_size"),
             attr<&UpdateExpert::balance_mode>("balance_mode"), out<&UpdateExpert::out>("out"),
             optional_out<&UpdateExpert::out_active>("out_active"));

}  // namespace
}  // namespace npu::ops
