// SPDX-License-Identifier: Apache-2.0
#include "adapters/pyacl/core/library.h"

#include <dlfcn.h>

#include <functional>
#include <map>

#include "anynpu/registry.h"

namespace npu::pyacl {
namespace {

using Texts = std::map<std::string, std::string, std::less<>>;

void keep(const anynpu_unfinished* entry, void* texts) {
  (*static_cast<Texts*>(texts))[entry->name] = std::string(entry->feature) + ": " + entry->text;
}

/// Names that C programs may link and that refuse every call: in Python they would be names that do not work.
const Texts& refused() {
  static const Texts& texts = [] {
    auto& made = *new Texts;
    anynpu_each_unfinished(keep, &made);
    return std::ref(made);
  }();
  return texts;
}

}  // namespace

void* c_function(const char* name) {
  // Needed by this extension, so it is there already. Asked for by handle: beside a real toolkit in the process, no
  // function of another library of the same name is meant.
  static void* const library = dlopen("libanynpu.so", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr || refused().contains(name) ? nullptr : dlsym(library, name);
}

std::string why_not(const char* name) {
  const auto found = refused().find(name);
  return found == refused().end() ? std::string(name) + " is not built in this AnyNPU" : found->second;
}

}  // namespace npu::pyacl
