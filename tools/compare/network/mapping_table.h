// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/compare/folder/dump_folder.h"
#include "tools/compare/rule/fusion_rule.h"

namespace npu::compare {

/// Which operators, tensors and files belong together, as a CSV.
std::string mapping_table(const DumpFolder& mine, const DumpFolder& golden, const FusionRule& rule,
                          const std::vector<size_t>& groups, bool sequence);

}  // namespace npu::compare
