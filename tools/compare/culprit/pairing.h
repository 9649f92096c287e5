// SPDX-License-Identifier: Apache-2.0
// Which tensor of the golden belongs to which of the run: by the names that operators had in the client's model, then
// by structure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/compare/side/run.h"

namespace npu::compare {

struct Pairing {
  /// For each operator of the run, the golden's one of the same work; null for none.
  std::vector<const Operator*> twins;
  /// For each operator, the golden port of each output and input; null for none.
  std::vector<std::vector<const Port*>> outputs, inputs;
  size_t ran = 0, matched = 0;       ///< operators of the run that left outputs, and those with a partner
  size_t by_structure = 0;           ///< of these
  std::vector<std::string> missing;  ///< operators of the run without a partner
  std::vector<std::string> golden_only;

  double coverage() const { return ran == 0 ? 0 : 100 * static_cast<double>(matched) / static_cast<double>(ran); }
};

Pairing pair_runs(const Run& mine, const Run& golden);

}  // namespace npu::compare
