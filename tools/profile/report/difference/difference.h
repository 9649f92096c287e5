// SPDX-License-Identifier: Apache-2.0
// Two collections beside each other.
#pragma once

#include <string>
#include <vector>

#include "tools/profile/report/fact/facts.h"

namespace npu::profile {

/// What both did, by type of operator, by module and by call of the host: counts and times, what differs most first,
/// under one line that says it all.
std::string difference_page(const std::vector<Trace>& a, const std::vector<Trace>& b);

}  // namespace npu::profile
