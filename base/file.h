// SPDX-License-Identifier: Apache-2.0
// Files read at once.
#pragma once

#include <optional>
#include <string>

namespace npu {

/// All of a file. Nothing where it cannot be read, with the reason in errno: EISDIR of a folder, ESRCH of a file that
/// /proc has of a process, when the process ends meanwhile. A stream's buffer, read without its stream, throws there.
std::optional<std::string> whole_file(const std::string& path);

}  // namespace npu
