// SPDX-License-Identifier: Apache-2.0
#include "graph/cache/cache.h"

#include <string>

#include "acl/call.h"
#include "acl/include/anynpu/cache.h"
#include "graph/cache/inspect.h"
#include "graph/import/tensorflow/dialect.h"

using npu::acl::call;
using npu::acl::given;

namespace {

std::filesystem::path place(const char* folder) { return npu::graph::cache::place_of(folder == nullptr ? "" : folder); }

}  // namespace

extern "C" {

const char* anynpu_kept_folder(const char* folder) {
  thread_local std::string text;
  return (text = place(folder).string()).c_str();
}

aclError anynpu_each_kept(const char* folder, void (*visit)(const anynpu_kept* entry, void* context), void* context) {
  return call("anynpu_each_kept", [&] {
    given(visit, "visit");
    for (const auto& one : npu::graph::cache::inspect(place(folder), npu::graph::tensorflow::dialect())) {
      const anynpu_kept out{sizeof(out), one.key.c_str(), one.function.c_str(), one.made.c_str(),   one.nodes,
                            one.bytes,   one.compile_ms,  one.used_seconds,     one.problem.c_str()};
      visit(&out, context);
    }
  });
}

aclError anynpu_clear_kept(const char* folder) {
  return call("anynpu_clear_kept", [&] { npu::graph::cache::Folder(place(folder)).clear(); });
}

}  // extern "C"
