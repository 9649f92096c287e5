// SPDX-License-Identifier: Apache-2.0
// Runs when libanynpu.so is loaded. When a client opens a filter library first (dlopen("libopapi.so")), glibc places
// libanynpu.so in front of it in its list of objects and then registers for stack unwinding only what comes behind:
// the first exception would end the process. Opening the library once more by its path registers it, and keeps it
// loaded for good: streams and pools live until the process ends.
#include <dlfcn.h>

namespace {

__attribute__((constructor)) void register_for_unwinding() {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&register_for_unwinding), &self) == 0) return;
  dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace
