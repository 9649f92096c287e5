// SPDX-License-Identifier: Apache-2.0
// Which experts a token goes to: its scores made probabilities, and the k largest of them. Of equal ones the first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/index/token_rows.h"

namespace npu::ops {
namespace {

void softmax(float* x, int64_t count) {
  const float largest = *std::max_element(x, x + count);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i] = std::exp(x[i] - largest);
  for (int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(x[i] / sum);
}

/// The indices of the `k` largest, in their order; a NaN is larger than every number.
std::vector<int64_t> largest_of(const float* x, int64_t count, int64_t k) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
    return less_nan_last(x[b], x[a]) || (!less_nan_last(x[a], x[b]) && a < b);
  });
  order.resize(static_cast<size_t>(k));
  return order;
}

struct Gating : TokenRows {
  Tensor x, y, expert_idx;
  int64_t k = 1;
  Rows from, to, norms;

 protected:
  void plan() {
    const size_t lead = lead_of(x, "x");
    from = rows_of(x, "x", lead);
    to = rows_of(y, "y", lead);
    require(k > 0 && k <= from.length(), "k is {}, there are {} experts", k, from.length());
    Dims wanted = x.shape;
    wanted.back() = k;
    check_shape(y, "y", wanted);
    check_shape(expert_idx, "expertIdx", wanted);
    require(y.dtype == x.dtype && expert_idx.dtype == DType::kInt32, "y is {}, expertIdx is {}; use {} and int32", y,
            expert_idx, x.dtype);
    chosen_ = whole_rows(expert_idx);
  }
  /// Rows of whole numbers, as many as experts are chosen.
  static Rows whole_rows(const Tensor& t) { return Rows(t, t.rank() - 1, DType::kInt64); }
  static void store(const Rows& rows, int64_t row, const std::vector<int64_t>& values) {
    const Scratch<int64_t> buffer(rows.length());
    auto* to_row = static_cast<int64_t*>(rows.target(row, buffer));
    std::ranges::copy(values, to_row);
    rows.store(row, to_row);
  }
  static void store(const Rows& rows, int64_t row, const float* values) {
    const Scratch<float> buffer(rows.length());
    auto* to_row = static_cast<float*>(rows.target(row, buffer));
    std::copy_n(values, rows.length(), to_row);
    rows.store(row, to_row);
  }
  Rows chosen_;
};

/// Softmax, then the largest (renorm 0), or the softmax of the largest (1).
struct GatingSoftmax final : Gating {
  Tensor finished, row_idx, softmax_result;
  int64_t renorm = 0;
  bool softmax_flag = false;

  void prepare() override {
    plan();
    require(renorm == 0 || renorm == 1, "renorm is {}; use 0 for softmax before the choice, 1 for after it", renorm);
    if (finished.defined()) {
      require(finished.dtype == DType::kBool, "finished is {}; use bool", finished);
      check_shape(finished, "finished", Dims(std::span(x.shape.data(), x.rank() - 1)));
    }
    rows_ = norms = Rows();
    if (row_idx.defined()) {
      check_shape(row_idx, "rowIdx", y.shape);
      rows_ = whole_rows(row_idx);
    }
    if (!softmax_flag) return;
    require(renorm == 0, "outputSoftmaxResultFlag is true with renorm 1; there is no softmax of all scores: use false");
    check_shape(softmax_result, "softmaxResult", x.shape);
    norms = rows_of(softmax_result, "softmaxResult", x.rank() - 1);
  }
  void run() override {
    const std::vector<int64_t> done = finished.defined() ? read_whole(finished) : std::vector<int64_t>();
    const int64_t experts = from.length();
    fill_rows(
        to,
        [&](int64_t row, float* made) {
          const Scratch<float> scores(experts);
          copy_row(from, row, scores);
          if (renorm == 0) softmax(scores, experts);
          if (norms.length() > 0) store(norms, row, scores);
          std::vector<int64_t> best = largest_of(scores, experts, k), places;
          for (int64_t j = 0; j < k; ++j) {
            made[j] = scores[best[static_cast<size_t>(j)]];
            // Choices of one place follow each other: that of token 0, of token 1 …
            places.push_back(j * from.count() + row);
          }
          if (!done.empty() && done[static_cast<size_t>(row)] != 0) std::ranges::fill(best, experts);
          store(chosen_, row, best);
          if (rows_.length() > 0) store(rows_, row, places);
          if (renorm == 1) softmax(made, k);
        },
        8 * experts);
  }
  int64_t cost() const override { return 1000 + 20 * x.count(); }

 private:
  Rows rows_;
};

/// Scores of groups of experts choose the groups, those of their experts the experts.
struct GatingTopK final : Gating {
  Tensor bias, input_ids, tid2eid, out;
  int64_t k_group = 1, group_count = 1, group_select_mode = 0, renorm = 0, norm_type = 0;
  bool out_flag = false;
  double routed_scaling_factor = 1, eps = 1e-20;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 1000 + 20 * x.count(); }

 private:
  void mask_groups(float* scores) const;
  std::vector<int64_t> chosen(int64_t row, const float* norm, const std::vector<int64_t>& ids) const;
};

void GatingTopK::prepare() {
  require(x.rank() == 2, "x is {}; use 2 dimensions", x);
  plan();
  const int64_t experts = x.shape[1], size = group_count > 0 ? experts / group_count : 0;
  require(renorm == 0, "renorm is {}; the function knows 0 only, the norm before the choice", renorm);
  require(norm_type == 0 || norm_type == 1, "normType is {}; use 0 (softmax) or 1 (sigmoid)", norm_type);
  require(group_count > 0 && experts % group_count == 0 && k_group > 0 && k_group <= group_count && k_group * size >= k,
          "groupCount is {}, kGroup {}, k {}: {} experts do not make groups from which so many can be chosen",
          group_count, k_group, k, experts);
  require((group_select_mode == 0 || group_select_mode == 1) && size > group_select_mode,
          "groupSelectMode is {}, a group has {} experts; use 0 for the largest, 1 for the sum of the two largest",
          group_select_mode, size);
  require(input_ids.defined() == tid2eid.defined(), "inputIds or tid2eid is null; give both or none");
  if (bias.defined()) check_shape(bias, "bias", {experts});
  if (input_ids.defined()) {
    check_shape(input_ids, "inputIds", {x.shape[0]});
    require(is_integer(input_ids.dtype) && is_integer(tid2eid.dtype) && tid2eid.rank() == 2 && tid2eid.shape[1] == k,
            "tid2eid is {}; it has {} experts for each number of inputIds, which is {}", tid2eid, k, input_ids);
  }
  norms = Rows();
  if (!out.defined() || (!out_flag && out.shape != x.shape)) return;
  check_shape(out, "out", x.shape);
  norms = rows_of(out, "out");
}

void GatingTopK::mask_groups(float* scores) const {
  if (group_count == 1) return;
  const int64_t size = x.shape[1] / group_count;
  std::vector<float> totals;
  for (int64_t g = 0; g < group_count; ++g) {
    const float* group = scores + g * size;
    const std::vector<int64_t> best = largest_of(group, size, group_select_mode + 1);
    totals.push_back(group_select_mode == 0 ? group[best[0]] : group[best[0]] + group[best[1]]);
  }
  std::vector<bool> kept(totals.size(), false);
  for (const int64_t g : largest_of(totals.data(), group_count, k_group)) kept[static_cast<size_t>(g)] = true;
  for (int64_t i = 0; i < x.shape[1]; ++i) {
    if (!kept[static_cast<size_t>(i / size)]) scores[i] = -std::numeric_limits<float>::infinity();
  }
}

std::vector<int64_t> GatingTopK::chosen(int64_t row, const float* norm, const std::vector<int64_t>& ids) const {
  const int64_t experts = x.shape[1];
  if (!ids.empty()) {
    std::vector<int64_t> picks(static_cast<size_t>(k));
    const int64_t id = std::clamp<int64_t>(ids[static_cast<size_t>(row)], 0, tid2eid.shape[0] - 1);
    for (int64_t j = 0; j < k; ++j) {
      const double expert = load_element(tid2eid, id * tid2eid.strides[0] + j * tid2eid.strides[1]);
      picks[static_cast<size_t>(j)] = std::clamp<int64_t>(static_cast<int64_t>(expert), 0, experts - 1);
    }
    return picks;
  }
  const Scratch<float> scores(experts);
  for (int64_t i = 0; i < experts; ++i)
    scores[i] = norm[i] + (bias.defined() ? static_cast<float>(load_element(bias, i * bias.strides[0])) : 0.0f);
  mask_groups(scores);
  return largest_of(scores, experts, k);
}

void GatingTopK::run() {
  const std::vector<int64_t> ids = input_ids.defined() ? read_whole(input_ids) : std::vector<int64_t>();
  const int64_t experts = x.shape[1];
  fill_rows(
      to,
      [&](int64_t row, float* made) {
        const Scratch<float> norm(experts);
        copy_row(from, row, norm);
        if (norm_type == 0) softmax(norm, experts);
        for (int64_t i = 0; norm_type == 1 && i < experts; ++i) norm[i] = 1 / (1 + std::exp(-norm[i]));
        const std::vector<int64_t> best = chosen(row, norm, ids);
        double sum = 0;
        for (const int64_t expert : best) sum += norm[expert];
        const double factor = routed_scaling_factor / (norm_type == 1 ? sum + eps : 1);
        for (int64_t j = 0; j < k; ++j) made[j] = static_cast<float>(norm[best[static_cast<size_t>(j)]] * factor);
        store(chosen_, row, best);
        if (norms.length() > 0) store(norms, row, norm);
      },
      8 * experts);
}

NPU_OPERATOR(GatingSoftmax, "moe_gating_softmax", "moe", in<&GatingSoftmax::x>("x"),
             optional<&GatingSoftmax::finished>("finished"), attr<&GatingSoftmax::k>("k"),
             attr<&GatingSoftmax::renorm>("renorm"), attr<&GatingSoftmax::softmax_flag>("softmax_flag"),
             out<&GatingSoftmax::y>("y"), out<&GatingSoftmax::expert_idx>("expert_idx"),
             optional_out<&GatingSoftmax::row_idx>("row_idx"),
             optional_out<&GatingSoftmax::softmax_result>("softmax_result"));
NPU_OPERATOR(GatingTopK, "moe_gating_top_k", "moe", in<&GatingTopK::x>("x"), optional<&GatingTopK::bias>("bias"),
             optional<&GatingTopK::input_ids>("input_ids"), optional<&GatingTopK::tid2eid>("tid2eid"),
             attr<&GatingTopK::k>("k"), attr<&GatingTopK::k_group>("k_group"),
             attr<&GatingTopK::group_count>("group_count"), attr<&GatingTopK::group_select_mode>("group_select_mode"),
             attr<&GatingTopK::renorm>("renorm"), attr<&GatingTopK::norm_type>("norm_type"),
             attr<&GatingTopK::out_flag>("out_flag"), attr<&GatingTopK::routed_scaling_factor>("routed_scaling_factor"),
             attr<&GatingTopK::eps>("eps"), out<&GatingTopK::y>("y"), out<&GatingTopK::expert_idx>("expert_idx"),
             optional_out<&GatingTopK::out>("out"));

}  // namespace
}  // namespace npu::ops
