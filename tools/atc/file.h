// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace npu::atc {

/// The content of the file that --`flag` names. Raises E10410.
std::string read_file(std::string_view flag, const std::string& path);

/// Puts a file in place at once, so that whoever has mapped an older one keeps it. Folders on the way are made. Raises
/// E19000, E10021 and E10022 naming `flag`.
void write_file(std::string_view flag, const std::string& path, std::string_view content);

}  // namespace npu::atc
