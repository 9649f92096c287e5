// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "ops/index/token_rows.h"

namespace npu::ops {
namespace {

/// The first version of the function: slot i belongs to token row_idx[i] % tokens, and the experts in their order are a
/// result too.
struct SortedRouting final : TokenRows {
  Tensor x, row_idx, expert_idx, expanded_x, expanded_row_idx, expanded_expert_idx;
  int64_t active_num = 0;
  Rows from, to;

  void prepare() override {
    from = rows_of(x, "x");
    to = rows_of(expanded_x, "expandedX");
    require(expert_idx.rank() == 2 && expert_idx.shape[0] == x.shape[0] && row_idx.shape == expert_idx.shape,
            "x is {}, rowIdx is {}, expertIdx is {}; both are [tokens, k]", x, row_idx, expert_idx);
    for (const Tensor* t : {&row_idx, &expert_idx, &expanded_row_idx, &expanded_expert_idx})
      require(t->dtype == DType::kInt32, "rowIdx, expertIdx or one of their results is {}; use int32", *t);
    const int64_t slots = expert_idx.count(), rows = std::min(x.shape[0], active_num) * expert_idx.shape[1];
    require(active_num >= 0 && expanded_x.dtype == x.dtype, "activeNum is {}, expandedX is {}", active_num, expanded_x);
    check_shape(expanded_x, "expandedX", {rows, x.shape[1]});
    check_shape(expanded_row_idx, "expandedRowIdx", {slots});
    check_shape(expanded_expert_idx, "expandedExpertIdx", {slots});
  }
  void run() override {
    const std::vector<int64_t> experts = read_whole(expert_idx), rows = read_whole(row_idx);
    std::vector<size_t> order(experts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t slot) { return experts[slot]; });
    std::vector<int64_t> where(order.size(), 0), sorted(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const int64_t row = rows[order[i]];
      if (row >= 0 && row < static_cast<int64_t>(where.size()))
        where[static_cast<size_t>(row)] = static_cast<int64_t>(i);
      sorted[i] = experts[order[i]];
    }
    write(where, expanded_row_idx);
    write(sorted, expanded_expert_idx);
    fill_rows(to, [&](int64_t row, float* made) {
      copy_row(from, rows[order[static_cast<size_t>(row)]] % from.count(), made);
    });
  }
  int64_t cost() const override { return 2000 + expert_idx.count() * 20 + 2 * expanded_x.count(); }
};

NPU_OPERATOR(SortedRouting, "moe_init_routing_sorted", "moe", in<&SortedRouting::x>("x"),
             in<&SortedRouting::row_idx>("row_idx"), in<&SortedRouting::expert_idx>("expert_idx"),
             attr<&SortedRouting::active_num>("active_num"), out<&SortedRouting::expanded_x>("expanded_x"),
             out<&SortedRouting::expanded_row_idx>("expanded_row_idx"),
             out<&SortedRouting::expanded_expert_idx>("expanded_expert_idx"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
