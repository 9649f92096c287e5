// SPDX-License-Identifier: Apache-2.0
// The page that a browser shows: one file, which needs no other and no network.
#pragma once

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {

/// Of devices that something ran on, at least one.
std::string html_page(const std::vector<Trace>& traces, const std::vector<Facts>& all,
                      const std::vector<Finding>& findings);

}  // namespace npu::profile
