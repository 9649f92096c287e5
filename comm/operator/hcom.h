// SPDX-License-Identifier: Apache-2.0
// What the vendor's Hcom operators have in common, on one tensor (hcom.cpp) or many (hcom_list.cpp). `hcom` is the
// group's name.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "comm/operator/rank_operator.h"

namespace npu::comm {

struct HcomOperator : RankOperator {
  std::string reduction = "sum";
  int64_t root = 0;

 protected:
  /// For prepare: the rank that gives or gets.
  void check_root() const {
    require(root >= 0 && root < ranks(), "the root is rank {}; group '{}' has the ranks 0 to {}", root, hcom,
            ranks() - 1);
  }
  /// For prepare.
  void find_reduction() {
    constexpr std::array kAll{ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin};
    const auto found = std::ranges::find_if(kAll, [&](ReduceOp op) { return reduction == name_of(op); });
    require(found != kAll.end(), "reduction is '{}'; it is max, min, prod or sum", reduction);
    reduce_op_ = *found;
  }
  bool is_root(const Communicator& ranks) const { return ranks.rank() == static_cast<uint32_t>(root); }

  ReduceOp reduce_op_ = ReduceOp::kSum;
};

}  // namespace npu::comm
