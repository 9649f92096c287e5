// SPDX-License-Identifier: Apache-2.0
// The golden tensor that belongs to an input or output of an executed operator.
#pragma once

#include "tools/compare/folder/dump_folder.h"
#include "tools/compare/rule/fusion_rule.h"

namespace npu::compare {

struct Counterpart {
  OriginOutput origin;  ///< of the client's model
  size_t index = 0;     ///< its output
  FoundFile file;
  bool is_dump = false;  ///< of the NPU: all outputs in one file

  const Tensor& tensor(const Opened& opened) const;
  std::string format(const Tensor& golden) const;
};

/// Raises a Refusal: kNoDump where the golden has no such file, others where the graph does not tell.
Counterpart find_counterpart(const RuleOp& op, size_t index, bool input, const FusionRule& rule,
                             const DumpFolder& golden);

/// Whether its inputs are quantised numbers.
bool restores_quantised(const RuleOp& op);

}  // namespace npu::compare
