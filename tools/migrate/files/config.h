// SPDX-License-Identifier: Apache-2.0
// Device names in files that scripts read: YAML, JSON and shell scripts.
#pragma once

#include <string>

#include "tools/migrate/migration/change.h"

namespace npu::migrate {

/// Larger ones are data.
inline constexpr size_t kLargestConfig = size_t{1} << 20;

/// Values `cuda`, `cuda:0`, `nccl`, `torch.cuda.FloatTensor` and variables like CUDA_VISIBLE_DEVICES are rows of the
/// result: changed where `change` says so, else to be done by hand. Keys and ids of GPUs are only ever listed: what
/// reads them may know no other name; so are texts of several lines and variables of NCCL.
FileResult migrated_config(const Source& source, const std::string& path, bool change);

}  // namespace npu::migrate
