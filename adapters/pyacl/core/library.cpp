// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/library.h"

#include <dlfcn.h>

namespace npu::pyacl {

void* c_function(const char* name) {
  // Needed by this extension, so it is there already. Asked for by handle: beside a real toolkit in the process, no
  // function of another library of the same name is meant.
  static void* const library = dlopen("libanynpu.so", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

}  // namespace npu::pyacl
