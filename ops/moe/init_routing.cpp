// SPDX-License-Identifier: Apache-2.0
// Tokens laid out expert by expert. A slot is a choice of a token: slot i is choice i % k of token i / k. Slots are
// ordered by their experts, stably; those of experts out of range come last and get no row.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/index/token_rows.h"

namespace npu::ops {
namespace {

struct InitRouting final : TokenRows {
  Tensor x, expert_idx, scale, offset, expanded_x, expanded_row_idx, expert_tokens, tokens_before_capacity,
      expanded_scale;
  std::vector<int64_t> active_expert_range;
  int64_t active_num = 0, expert_capacity = 0, expert_num = 0, drop_pad_mode = 0, row_idx_type = 0;
  int64_t quant_mode = -1;              ///< -1 none, 0 with given scales, 1 with the largest of each row
  int64_t expert_tokens_num = 0;        ///< 0 none, 1 ends, 2 counts
  int64_t expert_tokens_num_type = -1;  ///< 0 ends, 1 counts, 2 pairs of expert and count; -1: as the field above says
  bool expert_tokens_num_flag = false, before_capacity_flag = false;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 2000 + expert_idx.count() * 20 + 2 * expanded_x.count(); }

 private:
  enum Tokens : uint8_t { kNoTokens, kEnds, kCounts, kPairs };
  struct Placed {
    int64_t slot, expert;  ///< the expert counts from the first active one
  };

  void check_modes() const;
  void check_quantised() const;
  void check_results();
  Tokens tokens_form() const;
  bool pads() const { return drop_pad_mode == 1; }
  int64_t experts() const { return last_ - first_; }
  std::vector<Placed> ordered(const std::vector<int64_t>& chosen) const;
  void write_counts(const std::vector<int64_t>& counts) const;
  void write_rows(const std::vector<Placed>& placed) const;
  void write_row(const Placed* place, float* made, int64_t row) const;
  float quantise(const Placed& place, float* made) const;
  void read_numbers(const Tensor& t, const Rows& lines, int64_t expert, float missing, float* to) const;

  int64_t k_ = 1, first_ = 0, last_ = 0;
  Rows from_, to_, scales_, offsets_;
};

void InitRouting::check_modes() const {
  require(drop_pad_mode == 0 || drop_pad_mode == 1,
          "dropPadMode is {}; use 0 for all tokens, 1 for a capacity of each "
          "expert",
          drop_pad_mode);
  require(row_idx_type == 0 || row_idx_type == 1, "rowIdxType is {}; use 0 (gather) or 1 (scatter)", row_idx_type);
  require(!pads() || row_idx_type == 0, "rowIdxType is 1 with dropPadMode 1; rows that stay empty have no slot: use 0");
  require(!pads() || (expert_num > 0 && expert_capacity > 0 && expert_capacity <= std::max<int64_t>(x.shape[0], 1)),
          "expertNum is {}, expertCapacity {}; with dropPadMode 1 both are above 0, the capacity at most {} tokens",
          expert_num, expert_capacity, x.shape[0]);
  require(active_expert_range.empty() || active_expert_range.size() == 2, "activeExpertRange has {} numbers; use two",
          active_expert_range.size());
  require(first_ >= 0 && first_ <= last_, "activeExpertRange is [{}, {}); experts count from 0", first_, last_);
  require(quant_mode >= -1 && quant_mode <= 1,
          "quantMode is {}; use -1 for none, 0 for given scales, 1 for scales of each row", quant_mode);
}

void InitRouting::check_quantised() const {
  const int64_t hidden = x.shape[1];
  require(quant_mode < 0 || (is_floating(x.dtype) && expanded_x.dtype == DType::kInt8),
          "x is {}, expandedX is {}; quantising takes floats to int8", x.dtype, expanded_x.dtype);
  require(quant_mode >= 0 || expanded_x.dtype == x.dtype,
          "x is {}, expandedX is {}; without quantMode they are of one "
          "type",
          x.dtype, expanded_x.dtype);
  require(!offset.defined() || quant_mode == 0, "offset is given, which quantMode 0 alone reads; leave it out");
  require(quant_mode != 0 || scale.defined(), "scale is null; quantMode 0 needs it");
  if (!scale.defined()) return;
  require(scale.dtype == DType::kFloat && (!offset.defined() || offset.dtype == DType::kFloat),
          "scale is {}; use float32, for offset too", scale);
  if (quant_mode < 0) return check_shape(scale, "scale", {x.shape[0]});
  for (const Tensor* t : {&scale, &offset}) {
    if (!t->defined()) continue;
    const int64_t rows = t->dim(0), cols = t->rank() == 2 ? t->shape[1] : 1;
    require((t->rank() == 1 || t->rank() == 2) && (rows == 1 || rows == experts()) &&
                (cols == hidden || (cols == 1 && quant_mode == 0)),
            "scale or offset is {}; there are {} experts and {} columns", *t, experts(), hidden);
  }
}

InitRouting::Tokens InitRouting::tokens_form() const {
  if (expert_tokens_num_type >= 0)
    return expert_tokens_num_flag ? static_cast<Tokens>(expert_tokens_num_type + 1) : kNoTokens;
  return pads() || expert_tokens_num == 0 ? kNoTokens : static_cast<Tokens>(expert_tokens_num);
}

void InitRouting::check_results() {
  const int64_t slots = expert_idx.count(), hidden = x.shape[1];
  if (pads()) {
    const Dims padded{expert_num, expert_capacity, hidden}, flat{expert_num * expert_capacity, hidden};
    require(expanded_x.shape == padded || expanded_x.shape == flat, "expandedX is {}; it is [{}, {}, {}]", expanded_x,
            expert_num, expert_capacity, hidden);
  } else {
    const int64_t least = active_num > 0 ? std::min(active_num, slots) : slots;
    require(expanded_x.rank() == 2 && expanded_x.shape[1] == hidden &&
                (expanded_x.shape[0] == least || expanded_x.shape[0] == slots),
            "expandedX is {}; it is [{}, {}]", expanded_x, least, hidden);
  }
  require(is_integer(expanded_row_idx.dtype), "expandedRowIdx is {}; use int32", expanded_row_idx);
  check_shape(expanded_row_idx, "expandedRowIdx", {slots});
  const Tokens form = tokens_form();
  require(form == kNoTokens || expert_tokens.defined(), "expertTokensCountOrCumsum is null; the flags ask for it");
  if (form != kNoTokens) {
    require(expert_tokens.shape == (form == kPairs ? Dims{expert_num, 2} : Dims{experts()}),
            "expertTokensCountOrCumsum is {}; there are {} experts", expert_tokens, experts());
  }
  require(!before_capacity_flag || !pads() || tokens_before_capacity.shape == Dims{expert_num},
          "expertTokensBeforeCapacity is {}; it has {} numbers", tokens_before_capacity, expert_num);
  const int64_t rows = pads() ? expert_num * expert_capacity : expanded_x.shape[0];
  const bool scales = quant_mode == 1 || (quant_mode < 0 && scale.defined());
  require(!scales || (expanded_scale.defined() && expanded_scale.dtype == DType::kFloat &&
                      expanded_scale.count() >= rows && expanded_scale.rank() == 1),
          "expandedScale is {}; it has a float32 for each of {} rows", expanded_scale, rows);
}

void InitRouting::prepare() {
  require(x.rank() == 2 && expert_idx.rank() == 2 && expert_idx.shape[0] == x.shape[0],
          "x is {}, expertIdx is {}; x is [tokens, hidden], expertIdx [tokens, k]", x, expert_idx);
  require(expert_idx.dtype == DType::kInt32 || expert_idx.dtype == DType::kInt64, "expertIdx is {}; use int32",
          expert_idx);
  require(expert_tokens_num_type <= 2 && expert_tokens_num >= 0 && expert_tokens_num <= 2,
          "expertTokensNumType is {}; use 0, 1 or 2",
          expert_tokens_num_type > 2 ? expert_tokens_num_type : expert_tokens_num);
  k_ = std::max<int64_t>(expert_idx.shape[1], 1);
  first_ = active_expert_range.size() == 2 ? active_expert_range[0] : 0;
  last_ = active_expert_range.size() == 2 ? active_expert_range[1] : expert_num > 0 ? expert_num : int64_t{1} << 31;
  check_modes();
  check_quantised();
  check_results();
  from_ = rows_or_whole(x, "x");
  const auto by_columns = [&](const Tensor& t) { return t.defined() && t.rank() == 2 && t.shape[1] == x.shape[1]; };
  scales_ = by_columns(scale) ? rows_of(scale, "scale") : Rows();
  offsets_ = by_columns(offset) ? rows_of(offset, "offset") : Rows();
  to_ = rows_or_whole(expanded_x, "expandedX", expanded_x.rank() - 1);
}

std::vector<InitRouting::Placed> InitRouting::ordered(const std::vector<int64_t>& chosen) const {
  std::vector<int64_t> order(chosen.size());
  std::iota(order.begin(), order.end(), 0);
  // What lies before the first active expert is no smaller than what lies behind the last: none has a row.
  const auto key = [&](int64_t slot) {
    const int64_t expert = chosen[static_cast<size_t>(slot)];
    return expert < first_ ? std::numeric_limits<int64_t>::max() : expert;
  };
  std::ranges::stable_sort(order, {}, key);
  std::vector<Placed> placed;
  for (const int64_t slot : order) placed.push_back({slot, key(slot) < last_ ? key(slot) - first_ : -1});
  return placed;
}

void InitRouting::write_counts(const std::vector<int64_t>& counts) const {
  if (before_capacity_flag && pads()) write(counts, tokens_before_capacity);
  const Tokens form = tokens_form();
  if (form == kCounts) write(counts, expert_tokens);
  if (form == kEnds) {
    std::vector<int64_t> ends(counts.size());
    std::partial_sum(counts.begin(), counts.end(), ends.begin());
    write(ends, expert_tokens);
  }
  if (form != kPairs) return;
  // A pair for each expert that has tokens; zeros follow.
  std::vector<int64_t> pairs;
  for (size_t e = 0; e < counts.size(); ++e) {
    if (counts[e] > 0) pairs.insert(pairs.end(), {first_ + static_cast<int64_t>(e), counts[e]});
  }
  pairs.resize(static_cast<size_t>(expert_tokens.count()), 0);
  write(pairs, expert_tokens);
}

/// The numbers of an expert, one for each column.
void InitRouting::read_numbers(const Tensor& t, const Rows& lines, int64_t expert, float missing, float* to) const {
  if (t.defined() && lines.length() > 0) return copy_row(lines, t.shape[0] == 1 ? 0 : expert, to);
  const int64_t at = t.defined() && t.shape[0] > 1 ? expert * t.strides[0] : 0;
  std::fill_n(to, from_.length(), t.defined() ? static_cast<float>(load_element(t, at)) : missing);
}

/// Makes a row whole numbers; returns what they must be multiplied with to be the row again.
float InitRouting::quantise(const Placed& place, float* made) const {
  const int64_t hidden = from_.length();
  const Scratch<float> factors(hidden), moves(hidden);
  read_numbers(scale, scales_, place.expert, 1, factors);
  read_numbers(offset, offsets_, place.expert, 0, moves);
  float largest = 0;
  for (int64_t i = 0; i < hidden; ++i) {
    made[i] = made[i] * factors[i] + moves[i];
    largest = std::max(largest, std::abs(made[i]));
  }
  const float step = quant_mode == 1 ? largest / 127 : 1;
  for (int64_t i = 0; i < hidden; ++i)
    made[i] = step == 0 ? 0 : std::clamp(std::nearbyint(made[i] / step), -128.0f, 127.0f);
  return step;
}

void InitRouting::write_row(const Placed* place, float* made, int64_t row) const {
  const bool scales = expanded_scale.defined() && row < expanded_scale.count() &&
                      (quant_mode == 1 || (quant_mode < 0 && scale.defined()));
  float factor = 0;
  if (place != nullptr) {
    const int64_t token = place->slot / k_;
    copy_row(from_, token, made);
    if (quant_mode >= 0)
      factor = quantise(*place, made);
    else if (scales)
      factor = static_cast<float>(load_element(scale, token * scale.strides[0]));
  }
  if (scales) store_element(expanded_scale, row * expanded_scale.strides[0], factor);
}

/// `placed` has the slot of each row, in order; in padded layouts an expert's rows start at a multiple of the capacity.
void InitRouting::write_rows(const std::vector<Placed>& placed) const {
  std::vector<const Placed*> by_row(static_cast<size_t>(to_.count()), nullptr);
  std::vector<int64_t> where(placed.size(), -1);
  int64_t next = 0, expert = -1, taken = 0;
  for (const Placed& place : placed) {
    if (place.expert < 0) continue;
    taken = place.expert == expert ? taken + 1 : 0;
    expert = place.expert;
    if (pads() && taken >= expert_capacity) continue;
    const int64_t row = pads() ? expert * expert_capacity + taken : next++;
    where[static_cast<size_t>(place.slot)] = row;
    if (row < to_.count() && (active_num <= 0 || pads() || row < active_num)) by_row[static_cast<size_t>(row)] = &place;
  }
  if (row_idx_type == 1) {
    for (size_t i = 0; i < placed.size(); ++i) where[i] = placed[i].slot;
  }
  write(where, expanded_row_idx);
  fill_rows(to_, [&](int64_t row, float* made) { write_row(by_row[static_cast<size_t>(row)], made, row); });
}

void InitRouting::run() {
  const std::vector<Placed> placed = ordered(read_whole(expert_idx));
  if (tokens_form() != kNoTokens || (before_capacity_flag && pads())) {
    std::vector<int64_t> counts(static_cast<size_t>(experts()), 0);
    for (const Placed& place : placed) {
      if (place.expert >= 0) ++counts[static_cast<size_t>(place.expert)];
    }
    write_counts(counts);
  }
  write_rows(placed);
}

NPU_OPERATOR(InitRouting, "moe_init_routing", "moe", in<&InitRouting::x>("x"),
             in<&InitRouting::expert_idx>("expert_idx"), optional<&InitRouting::scale>("scale"),
             optional<&InitRouting::offset>("offset"), attr<&InitRouting::active_num>("active_num"),
             attr<&InitRouting::expert_capacity>("expert_capacity"), attr<&InitRouting::expert_num>("expert_num"),
             attr<&InitRouting::drop_pad_mode>("drop_pad_mode"),
             attr<&InitRouting::expert_tokens_num>("expert_tokens_num"),
             attr<&InitRouting::expert_tokens_num_type>("expert_tokens_num_type"),
             attr<&InitRouting::expert_tokens_num_flag>("expert_tokens_num_flag"),
             attr<&InitRouting::before_capacity_flag>("before_capacity_flag"),
             attr<&InitRouting::quant_mode>("quant_mode"),
             attr<&InitRouting::active_expert_range>("active_expert_range"),
             attr<&InitRouting::row_idx_type>("row_idx_type"), out<&InitRouting::expanded_x>("expanded_x"),
             out<&InitRouting::expanded_row_idx>("expanded_row_idx"),
             optional_out<&InitRouting::expert_tokens>("expert_tokens"),
             optional_out<&InitRouting::tokens_before_capacity>("tokens_before_capacity"),
             optional_out<&InitRouting::expanded_scale>("expanded_scale"));

}  // namespace
}  // namespace npu::ops
