// SPDX-License-Identifier: Apache-2.0
#include "graph/precision/precision.h"

#include <string>

#include "acl/call.h"
#include "acl/graph/library.h"
#include "graph/ir/ir_type.h"
#include "graph/precision/list.h"

using npu::acl::call;
using npu::acl::given;

extern "C" {

aclError anynpu_library_set_precision(anynpu_library* library, const char* option, const char* value, size_t size,
                                      void (*notice)(const char* text, void* context), void* context) {
  return call("anynpu_library_set_precision", [&] {
    auto& live = given(library, "library")->library;
    for (const std::string& text : live.set_precision(given(option, "option"), {given(value, "value"), size}))
      if (notice != nullptr) notice(text.c_str(), context);
  });
}

void anynpu_each_operator_precision(void (*visit)(const anynpu_operator_precision* one, void* context), void* context) {
  for (const npu::graph::OperatorPrecision& row : npu::graph::all_precision()) {
    const std::string op(row.op), aliases(npu::graph::ir_types(row.op));
    std::string dtypes;
    for (const npu::DType dtype : row.dtypes) dtypes += (dtypes.empty() ? "" : " ") + std::string(npu::name_of(dtype));
    const anynpu_operator_precision out{sizeof(out),
                                        op.c_str(),
                                        aliases.c_str(),
                                        npu::graph::to_string(row.unit).data(),
                                        npu::graph::to_string(row.list).data(),
                                        dtypes.c_str()};
    visit(&out, context);
  }
}

aclError anynpu_each_precision_effect(const char* mode,
                                      void (*visit)(const anynpu_precision_effect* one, void* context), void* context) {
  return call("anynpu_each_precision_effect", [&] {
    const npu::graph::PrecisionMode found = npu::graph::find_mode(given(mode, "mode"));
    given(visit, "visit");
    for (const npu::graph::OperatorPrecision& row : npu::graph::all_precision()) {
      const std::string op(row.op), effect = npu::graph::effect_of(found, row);
      const anynpu_precision_effect out{sizeof(out), op.c_str(), effect.c_str()};
      visit(&out, context);
    }
  });
}

}  // extern "C"
