// SPDX-License-Identifier: Apache-2.0
// What is to be told of a run as a whole: what its result will not do, and nothing in it would say.
#pragma once

#include <string>
#include <vector>

#include "tools/migrate/migration/change.h"
#include "tools/migrate/rule/options.h"
#include "tools/migrate/rule/rule_index.h"

namespace npu::migrate {

std::vector<std::string> notes_of(const std::vector<FileResult>& files, const Options& options, const RuleIndex& rules);

}  // namespace npu::migrate
