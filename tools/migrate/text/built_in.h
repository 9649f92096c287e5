// SPDX-License-Identifier: Apache-2.0
// The files of rules/ and support/, as the tool carries them.
#pragma once

#include <span>
#include <string_view>

namespace npu::migrate {

/// The text of a file the tool was built with, by its name ("tf2.yaml"); "" where there is none.
std::string_view built_in(std::string_view name);
/// All their names, sorted.
std::span<const std::string_view> built_in_names();

}  // namespace npu::migrate
