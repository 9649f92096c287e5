// SPDX-License-Identifier: Apache-2.0
// Where what outlives a process is kept: compiled functions, banks of tuned choices.
#pragma once

#include <filesystem>
#include <string_view>

namespace npu {

/// `below` in the folder of ASCEND_CACHE_PATH, where that is set; else `at_home` in the user's home folder, or here
/// where there is none.
std::filesystem::path cache_path(std::string_view below, std::string_view at_home);

}  // namespace npu
