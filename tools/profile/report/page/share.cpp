// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/share.h"

#include <fmt/format.h>

namespace npu::profile {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace npu::profile
