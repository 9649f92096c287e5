// SPDX-License-Identifier: Apache-2.0
#include "base/library_folder.h"

#include <dlfcn.h>

namespace npu {

std::filesystem::path library_folder() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&library_folder), &own) == 0) return {};
  return std::filesystem::path(own.dli_fname).parent_path();
}

}  // namespace npu
