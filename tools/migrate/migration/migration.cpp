// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/migration/migration.h"

#include <algorithm>

namespace npu::migrate {

bool Migration::opens() const {
  return rewriter.lines().contains("npu.open().as_default()") ||
         std::ranges::any_of(ledger.uses(), [](const Use& use) { return use.name == "npu_device.open"; });
}

bool Migration::runs_open() const {
  return script.part().begins ? opens() || script.program().opens : script.part().open;
}

}  // namespace npu::migrate
