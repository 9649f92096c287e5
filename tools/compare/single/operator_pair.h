// SPDX-License-Identifier: Apache-2.0
// One operator of a run and its counterpart.
#pragma once

#include "tools/compare/folder/dump_folder.h"
#include "tools/compare/rule/fusion_rule.h"
#include "tools/compare/single/detail.h"

namespace npu::compare {

struct TensorChoice {
  std::string op;
  bool input = false;
  size_t index = 0;
};

/// Writes the files of one tensor; `rule` is null where both sides are dumps of the NPU with operators of the same
/// names. Raises a Refusal for an operator, a file or a tensor that is not there, and for sides that do not fit
/// together.
void compare_operator(const TensorChoice& choice, const DumpFolder& mine, const DumpFolder& golden,
                      const FusionRule* rule, const DetailOptions& options);

}  // namespace npu::compare
