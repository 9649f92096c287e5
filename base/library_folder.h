// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace npu {

/// The folder of the file that this code was loaded from: libanynpu.so, or a program. Empty where the loader does not
/// know it.
std::filesystem::path library_folder();

}  // namespace npu
