// SPDX-License-Identifier: Apache-2.0
#include "base/cache_path.h"

#include <cstdlib>
#include <string>

#include "base/setting.h"

namespace npu {
namespace {

NPU_SETTING(std::string, cache_root, "ASCEND_CACHE_PATH", "",
            "Folder whose kernel_cache has compiled functions where op_compiler_cache_dir is not set (else atc_data in "
            "the home folder), and whose aoe_data has banks of tuned choices where TUNE_BANK_PATH is not.");

}  // namespace

std::filesystem::path cache_path(std::string_view below, std::string_view at_home) {
  if (!cache_root().empty()) return std::filesystem::path(cache_root()) / below;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "." : home) / at_home;
}

}  // namespace npu
