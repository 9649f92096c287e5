// SPDX-License-Identifier: Apache-2.0
// Memory on the pages; "" where nothing of it was recorded.
#pragma once

#include <string>

#include "tools/profile/report/fact/facts.h"

namespace npu::profile {

std::string memory_text(const Facts& facts);
/// A curve over the span of the device, and the same table.
std::string memory_html(const Facts& facts);

}  // namespace npu::profile
