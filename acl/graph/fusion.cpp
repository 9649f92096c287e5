// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "acl/call.h"
#include "acl/graph/library.h"
#include "graph/passes/fusion_switch.h"
#include "graph/passes/pipeline.h"

using npu::acl::call;
using npu::acl::given;

extern "C" {

aclError anynpu_library_switch_fusion(anynpu_library* library, const char* text, size_t size,
                                      void (*unknown)(const char* name, void* context), void* context) {
  return call("anynpu_library_switch_fusion", [&] {
    auto& live = given(library, "library")->library;
    npu::graph::FusionSwitch read = npu::graph::read_fusion_switch({given(text, "text"), size});
    live.switch_off(std::move(read.off));
    for (const std::string& name : read.unknown)
      if (unknown != nullptr) unknown(name.c_str(), context);
  });
}

void anynpu_each_fusion(void (*visit)(const char* name, const char* purpose, const char* aliases, void* context),
                        void* context) {
  for (const npu::graph::Pass& pass : npu::graph::all_passes()) {
    if (pass.group == npu::graph::FusionGroup::kNone) continue;
    const std::string aliases = fmt::format("{}", fmt::join(pass.aliases, ", "));
    visit(std::string(pass.name).c_str(), std::string(pass.purpose).c_str(), aliases.c_str(), context);
  }
}

void anynpu_library_fusions(anynpu_library* library, void (*visit)(const char* json, void* context), void* context) {
  if (library != nullptr && visit != nullptr) visit(library->library.report().fusion_json().c_str(), context);
}

void anynpu_export_fusions(const char* file) { npu::graph::export_fusions(file == nullptr ? "" : file); }

}  // extern "C"
