// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/change.h"

#include <fmt/format.h>

namespace npu::migrate {

std::string report_line(const Change& change) {
  if (!change.message.empty()) return change.message;
  if (change.after.empty()) return fmt::format("delete {}", change.before);
  return fmt::format("change {} to {}", change.before, change.after);
}

}  // namespace npu::migrate
