// SPDX-License-Identifier: Apache-2.0
// The reports of ms_fmk_transplt.
#pragma once

#include <string>

#include "tools/migrate/run/run.h"

namespace npu::migrate {

/// Writes change_list.csv and unsupported_op.xlsx into the folder. Files are named as below the input, lines are those
/// of the original scripts.
void write_torch_reports(const Outcome& outcome, const std::string& folder);

/// The text of msFmkTranspltlog.txt: what was done, file by file, and what is left to do by hand.
std::string torch_log(const Outcome& outcome, const std::string& input, const std::string& folder);

}  // namespace npu::migrate
