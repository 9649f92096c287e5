// SPDX-License-Identifier: Apache-2.0
// Products of a mixture of experts: the rows of x that belong to an expert by its weight (group type 0), gradients of
// those weights from the rows (2), or products that have nothing in common but the call (-1). Group sizes may lie in
// device memory, so which rows meet which weight is known when the call runs.
#pragma once

#include <deque>
#include <vector>

#include "ops/matmul/blocked.h"
#include "ops/matmul/grouped_product.h"
#include "ops/moe/group_list.h"
#include "ops/operator.h"
#include "ops/scratch.h"

namespace npu::ops {

struct GroupedMatmul final : Operator {
  using Tensors = std::vector<Tensor>;
  using Item = GroupedProduct::Item;

  Tensors x, weight, bias, scale, offset, antiquant_scale, antiquant_offset, per_token_scale, activation_input,
      activation_quant_scale, activation_quant_offset, out, act_out, dynamic_quant_scale_out;
  Tensor group_list;
  std::vector<int64_t> ends;
  int64_t split_item = 0, group_type = kByLists, group_list_type = 0, act_type = 0, quant_group_size = 0;

  void prepare() override;
  void run() override;
  int64_t cost() const override { return 2000 + work_ / 32; }

 private:
  /// The first version of the function names no axis: it groups rows if it has a list.
  static constexpr int64_t kByLists = -2;
  enum Axis : int8_t { kNone = -1, kRows = 0, kDepth = 2 };

  void check_reserved() const;
  void find_groups();
  void find_weights();
  void check_types();
  void check_quantised() const;
  void check_lone() const;
  void check_rows() const;
  void check_depth() const;
  void check_out(int64_t group, const Dims& shape) const;
  void check_numbers(const Tensors& list, const char* name, size_t ranks) const;
  void check_tokens() const;
  void plan_list();
  Tensor of_group(const Tensors& list, int64_t group) const;
  Tensor grid(const Tensors& list, int64_t group) const;
  bool has_list() const { return group_list.defined() || !ends.empty(); }
  const Tensor& weight_of(int64_t group) const {
    return weights_[weights_.size() == 1 ? 0 : static_cast<size_t>(group)];
  }

  Tensors plain_weights(std::deque<Scratch<std::byte>>& room) const;
  Tensors apart(const Tensors& list, std::deque<Scratch<std::byte>>& room) const;
  void add_lone(const Tensors& left, std::vector<Item>& to) const;
  void add_rows(const Tensors& left, std::vector<Item>& to) const;
  void add_depth(const Tensors& left, std::vector<Item>& to) const;
  Matrix out_of(int64_t group, int64_t row, int64_t count) const;
  void finish(const Item& item, const cube::Tile& tile, float* c) const;
  void finish_whole(const Item& item, const cube::Tile& tile, const int32_t* c) const;

  Axis axis_ = kNone;
  int64_t groups_ = 0;
  std::vector<PlainWeight> blocked_;  ///< for each tensor of `weight`
  Tensors weights_;                   ///< a matrix for each group, or the one that all parts of the depth are cut from
  bool one_weight_ = false;           ///< all in one tensor [groups, k, n]
  bool whole_ = false;                ///< int8 by int8
  bool few_bits_ = false;             ///< weights of int8 or int4 beside halves
  GroupList list_;
  int64_t work_ = 0;
};

}  // namespace npu::ops
