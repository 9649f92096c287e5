// SPDX-License-Identifier: Apache-2.0
// The page that a terminal shows.
#pragma once

#include "tools/profile/report/finding/finding.h"

namespace npu::profile {

/// Of devices that something ran on, at least one.
std::string text_page(std::span<const Facts> all, const std::vector<Finding>& findings);

}  // namespace npu::profile
