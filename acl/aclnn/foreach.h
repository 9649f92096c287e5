// SPDX-License-Identifier: Apache-2.0
// One element-wise operator applied to each member of tensor lists: what every aclnnForeach… row runs. Members are
// independent, so they run in parallel; each computes the same bits whatever the number of threads.
#pragma once

#include <memory>
#include <vector>

#include "ops/operator.h"

namespace npu::acl {

class Foreach final : public ops::Operator {
 public:
  explicit Foreach(const ops::OperatorDef& member_def) { def = &member_def; }

  void add(std::unique_ptr<ops::Operator> member) { members_.push_back(std::move(member)); }
  const std::vector<std::unique_ptr<ops::Operator>>* members() const override { return &members_; }

  /// Prepares every member. An Error is raised again with "member i: " in front.
  void prepare() override;
  void run() override;
  int64_t cost() const override;

 private:
  std::vector<std::unique_ptr<ops::Operator>> members_;
};

}  // namespace npu::acl
