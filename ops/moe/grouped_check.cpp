// SPDX-License-Identifier: Apache-2.0
// What a grouped product takes: which lists go together, in which types and shapes.
#include <algorithm>

#include "ops/matmul/blocked.h"
#include "ops/matmul/product.h"
#include "ops/moe/dequantise.h"
#include "ops/moe/grouped_matmul.h"

namespace npu::ops {
namespace {

/// A list that was left out, or one of placeholders without elements.
bool absent(const std::vector<Tensor>& list) {
  return std::ranges::all_of(list, [](const Tensor& t) { return !t.defined() || t.count() == 0; });
}

bool is_short_float(DType d) { return d == DType::kFloat || d == DType::kHalf || d == DType::kBFloat16; }

}  // namespace

void GroupedMatmul::check_reserved() const {
  const std::pair<const Tensors*, const char*> reserved[] = {{&offset, "offset"},
                                                             {&activation_input, "activationInput"},
                                                             {&activation_quant_scale, "activationQuantScale"},
                                                             {&activation_quant_offset, "activationQuantOffset"},
                                                             {&act_out, "activationFeatureOut"},
                                                             {&dynamic_quant_scale_out, "dynQuantScaleOut"}};
  for (const auto& [list, name] : reserved)
    require(absent(*list), "{} is given; the function has a place for it and no meaning: leave it out", name);
  require(quant_group_size == 0, "quantGroupSize is {}; the groups of a scale follow from its shape: use 0",
          quant_group_size);
}

void GroupedMatmul::find_weights() {
  weights_.clear();
  blocked_.assign(weight.size(), {});
  one_weight_ = weight.size() == 1 && weight[0].rank() == 3;
  for (const Tensor& t : weight) {
    require(t.rank() == 2 || one_weight_, "weight is {}; use a list of matrices, or one tensor [groups, k, n]", t);
    blocked_[static_cast<size_t>(&t - weight.data())].plan(t, "weight");
    const Tensor plain = unpacked(t);
    const size_t lead = plain.rank() - 2;
    for (int64_t g = 0; g < (lead == 0 ? 1 : plain.shape[0]); ++g) {
      Tensor one =
          plain.view({plain.shape[lead], plain.shape[lead + 1]}, {plain.strides[lead], plain.strides[lead + 1]});
      one.offset += lead == 0 ? 0 : g * plain.strides[0];
      weights_.push_back(one);
    }
  }
}

void GroupedMatmul::find_groups() {
  require(!x.empty() && !weight.empty() && !out.empty(), "x has {} tensors, weight {}, out {}; give one at least",
          x.size(), weight.size(), out.size());
  for (const Tensors* list : {&x, &weight, &out}) {
    for (const Tensor& t : *list) require(t.defined(), "x, weight or out has a null tensor");
  }
  find_weights();
  require(split_item >= 0 && split_item <= 3,
          "splitItem is {}; use 0 or 1 for a tensor for each group, 2 or 3 for one tensor", split_item);
  require(group_type == kByLists || group_type == -1 || group_type == 0 || group_type == 2,
          "groupType is {}; use -1 for no groups, 0 for groups of rows of x, 2 for groups along k", group_type);
  const bool by_rows = has_list() || (x.size() > 1 && out.size() == 1);
  axis_ = group_type == kByLists ? (by_rows ? kRows : kNone) : static_cast<Axis>(group_type);
  groups_ = static_cast<int64_t>(weights_.size());
  require(groups_ > 0, "weight is {}: there is no group", weight[0]);
  if (axis_ == kDepth && weight.size() == 1 && has_list())
    groups_ = group_list.defined() ? group_list.dim(0) : static_cast<int64_t>(ends.size());
  require(split_item >= 2 ? out.size() == 1 : static_cast<int64_t>(out.size()) == groups_,
          "splitItem is {}, out has {} tensors, there are {} groups; 0 and 1 give a tensor for each, 2 and 3 one",
          split_item, out.size(), groups_);
}

void GroupedMatmul::check_types() {
  const DType type = x[0].dtype, kept = weights_.empty() ? unpacked(weight[0]).dtype : weights_[0].dtype;
  for (const Tensor& t : x) require(t.dtype == type, "x has tensors of {} and {}; use one type", type, t.dtype);
  for (const Tensor& t : weights_) require(t.dtype == kept, "weight has tensors of {} and {}", kept, t.dtype);
  whole_ = type == DType::kInt8;
  few_bits_ = !whole_ && (kept == DType::kInt8 || kept == DType::kInt4);
  require(whole_ || is_short_float(type), "x is {}; use float16, bfloat16, float32 or int8", type);
  require(
      few_bits_ ? type != DType::kFloat : kept == type,
      "x is {}, weight is {}; use one type for both, or float16 or bfloat16 beside int8, or int32 with eight int4 in "
      "each",
      type, kept);
  if (whole_) return check_quantised();
  require(absent(scale) && absent(per_token_scale), "scale and perTokenScale go with int8, x is {}", type);
  require(few_bits_ || (absent(antiquant_scale) && absent(antiquant_offset)),
          "antiquantScale and antiquantOffset go with weights of int8 or int4, weight is {}", kept);
  require(!few_bits_ || !absent(antiquant_scale), "antiquantScale is missing; weight is {}", kept);
  for (const Tensors* list : {&antiquant_scale, &antiquant_offset}) {
    for (const Tensor& t : *list)
      require(!t.defined() || t.dtype == type, "antiquantScale or antiquantOffset is {}; use {}, the type of x", t,
              type);
  }
  require(act_type == 0, "actType is {}: activations follow products of int8 with perTokenScale only; use 0", act_type);
  for (const Tensor& t : out) require(t.dtype == type, "out is {}, x is {}: they must be of one type", t.dtype, type);
  for (const Tensor& t : bias)
    require(!t.defined() || is_short_float(t.dtype), "bias is {}; use {}", t.dtype,
            type == DType::kBFloat16 ? DType::kFloat : type);
}

void GroupedMatmul::check_quantised() const {
  require(absent(antiquant_scale) && absent(antiquant_offset), "antiquantScale goes with float16 or bfloat16, x is {}",
          x[0].dtype);
  const DType made = out[0].dtype;
  for (const Tensor& t : out) require(t.dtype == made, "out has tensors of {} and {}; use one type", made, t.dtype);
  const bool scaled = !absent(scale), tokens = !absent(per_token_scale);
  const DType kind = scaled ? scale[0].dtype : DType::kUndefined;
  const bool packed = kind == DType::kInt64 || kind == DType::kUInt64;
  for (const Tensor& t : scale) require(!scaled || t.dtype == kind, "scale has tensors of {} and {}", kind, t.dtype);
  require((packed && made == DType::kInt8) || (!scaled && made == DType::kInt32) ||
              ((kind == DType::kFloat || kind == DType::kBFloat16) && is_short_float(made)),
          "x is int8, out is {}, scale is {}; an out of int8 takes int64, floats take bfloat16 or float32, int32 takes "
          "none",
          made, scaled ? name_of(kind) : "null");
  require(!tokens || (scaled && !packed), "perTokenScale goes with an out of floats, out is {}", made);
  for (const Tensor& t : bias) {
    require(!t.defined() || t.dtype == DType::kInt32 || (scaled && !packed && is_short_float(t.dtype)),
            "bias is {}; use int32", t.dtype);
  }
  require(act_type == 0 || act_type == 1 || act_type == 2 || act_type == 4 || act_type == 5,
          "actType is {}; use 0, 1 (relu), 2 (gelu), 4 (fast gelu) or 5 (silu)", act_type);
  require(act_type == 0 || tokens, "actType is {}: activations follow products with perTokenScale only; use 0",
          act_type);
}

/// A group's own numbers: the member of the list, or the part of the only tensor.
Tensor GroupedMatmul::of_group(const Tensors& list, int64_t group) const {
  if (absent(list)) return {};
  if (!one_weight_) return list[static_cast<size_t>(group)];
  Tensor t = list[0];
  if (t.rank() < 2 && groups_ == 1) return t;
  t.offset += group * t.strides[0];
  t.shape.erase(0), t.strides.erase(0);
  return t;
}

void GroupedMatmul::check_numbers(const Tensors& list, const char* name, size_t ranks) const {
  if (absent(list)) return;
  require(list.size() == weight.size(), "{} has {} tensors, weight {}; give one for each", name, list.size(),
          weight.size());
  const bool leads = one_weight_ && (groups_ != 1 || list[0].rank() > 1);
  require(!leads || (list[0].rank() > 0 && list[0].shape[0] == groups_),
          "{} is {}; its first axis is that of {} groups", name, list[0], groups_);
  for (int64_t g = 0; g < groups_; ++g) {
    const Tensor t = of_group(list, g);
    const int64_t n = weight_of(g).shape[1], k = weight_of(g).shape[0];
    require(t.defined() && t.rank() >= 1 && t.rank() <= ranks && t.shape.back() == n,
            "{} of group {} is {}; it has one number for each of {} columns", name, g, t, n);
    require(t.rank() == 1 || (t.shape[0] > 0 && k % t.shape[0] == 0),
            "{} of group {} is {}; {} rows of weight are no multiple of {}", name, g, t, k, t.shape[0]);
    require(t.rank() == 1 || weight_of(g).dtype == DType::kInt4,
            "{} of group {} is {}: parts of k have scales of their "
            "own in weights of int4 only",
            name, g, t);
  }
}

void GroupedMatmul::check_tokens() const {
  if (absent(per_token_scale)) return;
  require(per_token_scale.size() == x.size(), "perTokenScale has {} tensors, x {}; give one for each",
          per_token_scale.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t rows = x[i].count() / std::max<int64_t>(x[i].shape.back(), 1);
    require(per_token_scale[i].dtype == DType::kFloat && per_token_scale[i].shape == Dims{rows},
            "perTokenScale is {}; it has a float32 for each of {} rows of x", per_token_scale[i], rows);
  }
}

void GroupedMatmul::check_out(int64_t group, const Dims& shape) const {
  const Tensor& t = out[static_cast<size_t>(group)];
  require(t.shape == shape, "out of group {} is {}, the result is {}; give an output of that shape", group, t.shape,
          shape);
}

void GroupedMatmul::check_lone() const {
  require(!has_list(), "groupList is given; without groups (groupType -1) there are none: leave it out");
  require(x.size() == weights_.size() && out.size() == x.size() && !one_weight_,
          "x has {} tensors, weight {}, out {}: without groups each x has its own weight and out, splitItem 0 or 1",
          x.size(), weight.size(), out.size());
  for (size_t i = 0; i < x.size(); ++i) {
    require(x[i].rank() >= 2 && x[i].shape.back() == weights_[i].shape[0],
            "x is {}, weight is {}: inner sizes differ, or x has no rows", x[i], weights_[i].shape);
    Dims wanted = x[i].shape;
    wanted.back() = weights_[i].shape[1];
    check_out(static_cast<int64_t>(i), wanted);
  }
}

void GroupedMatmul::check_rows() const {
  require(x.size() == 1 || static_cast<int64_t>(x.size()) == groups_, "x has {} tensors, there are {} groups", x.size(),
          groups_);
  require(x.size() > 1 || groups_ <= 1 || has_list(), "groupList is null; it says which rows of x are of which group");
  int64_t total = 0;
  for (int64_t g = 0; g < groups_; ++g) {
    const Tensor& t = x[x.size() == 1 ? 0 : static_cast<size_t>(g)];
    require(t.rank() == 2 && t.shape[1] == weight_of(g).shape[0], "x is {}, weight is {}: inner sizes differ", t,
            weight_of(g).shape);
    total += x.size() == 1 && g > 0 ? 0 : t.shape[0];
    require(out.size() > 1 || weight_of(g).shape[1] == weight_of(0).shape[1],
            "weights have {} and {} columns; one out needs weights of one width", weight_of(0).shape[1],
            weight_of(g).shape[1]);
  }
  if (split_item >= 2) return groups_ == 0 ? void() : check_out(0, {total, weight_of(0).shape[1]});
  for (int64_t g = 0; g < groups_; ++g) {
    const Tensor& made = out[static_cast<size_t>(g)];
    require(made.rank() == 2, "out is {}; it is a matrix", made);
    check_out(g, {x.size() == 1 ? made.shape[0] : x[static_cast<size_t>(g)].shape[0], weight_of(g).shape[1]});
  }
}

void GroupedMatmul::check_depth() const {
  require(x.size() == 1 && x[0].rank() == 2 && !whole_ && !few_bits_ && absent(bias),
          "x has {} tensors, the first is {}: groupType 2 takes one matrix of floats and no bias", x.size(), x[0]);
  require(!one_weight_, "weight is {}; with groupType 2 it is one matrix [k, n], or one for each group", weight[0]);
  require(weight.size() > 1 || has_list(), "groupList is null; it says where along k a group ends");
  int64_t depth = 0;
  for (const Tensor& t : weights_) depth += t.shape[0];
  require(depth == x[0].shape[1], "x is {}, weight has {} rows: inner sizes differ", x[0], depth);
  const int64_t m = x[0].shape[0];
  if (split_item >= 2) return check_out(0, {groups_, m, weight_of(0).shape[1]});
  for (int64_t g = 0; g < groups_; ++g) check_out(g, {m, weight_of(g).shape[1]});
}

void GroupedMatmul::plan_list() {
  if (!ends.empty()) return list_.plan(ends, groups_);
  if (!group_list.defined()) return;
  require(group_list_type != 2 || (whole_ && axis_ == kRows),
          "groupListType is 2: pairs of group and size go with int8 and groupType 0 only; use 0 or 1");
  list_.plan(group_list, group_list_type, groups_);
}

void GroupedMatmul::prepare() {
  check_reserved();
  find_groups();
  check_types();
  if (axis_ == kNone) check_lone();
  if (axis_ == kRows) check_rows();
  if (axis_ == kDepth) check_depth();
  plan_list();
  check_numbers(bias, "bias", 1);
  check_numbers(scale, "scale", 1);
  check_numbers(antiquant_scale, "antiquantScale", 2);
  check_numbers(antiquant_offset, "antiquantOffset", 2);
  check_tokens();
  work_ = 0;
  for (const Tensor& t : out) work_ += t.count() * x[0].shape.back();
}

}  // namespace npu::ops
