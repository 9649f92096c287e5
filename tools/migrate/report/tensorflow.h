// SPDX-License-Identifier: Apache-2.0
// The reports of convert_tf2npu.
#pragma once

#include <string>

#include "tools/migrate/report/support.h"
#include "tools/migrate/run/run.h"

namespace npu::migrate {

/// Writes success_report.txt, need_migration_doc.txt, api_brief_report.txt, api_analysis_report.xlsx, and
/// failed_report.txt where it has a row, into the folder. Line numbers are those of the original scripts. Gives the two
/// lines of the brief report; "" where no script uses an API.
std::string write_tensorflow_reports(const Outcome& outcome, const std::string& root, const std::string& folder,
                                     const SupportList& list);

}  // namespace npu::migrate
