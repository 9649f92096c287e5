// SPDX-License-Identifier: Apache-2.0
// Which fusion passes run, as the vendor's fusion switch file says it. Two forms:
//
//   MatMulBiasAddFusionPass:off                 {"Switch": {"GraphFusion": {"ALL": "off", "elementwise": "on"},
//   ALL:off                                                 "UBFusion": {"ALL": "off"}}}
//
// Names are those of our passes or of the vendor's that they stand for. ALL switches a group, in the first form both;
// what is named itself wins over it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/passes/pass.h"

namespace npu::graph {

struct FusionSwitch {
  std::vector<std::string> off;      ///< names of our passes that do not run
  std::vector<std::string> unknown;  ///< names in the file that no pass of ours has
};

/// Reads the text of a switch file. Raises 161002 with line and column for one that has neither form.
FusionSwitch read_fusion_switch(std::string_view text);

}  // namespace npu::graph
