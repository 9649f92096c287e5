// SPDX-License-Identifier: Apache-2.0
#include "graph/run/saturation.h"

#include <utility>

#include "acl/call.h"
#include "acl/graph/value.h"
#include "device/process/soc.h"
#include "graph/ir/ir_type.h"

using npu::acl::call;
using npu::acl::given;
using npu::acl::wrapped;

extern "C" {

aclError anynpu_saturate(int32_t device, const char* type, anynpu_value* const* inputs, size_t input_count,
                         anynpu_value** results, size_t result_count) {
  return call("anynpu_saturate", [&] {
    npu::device::check_device(device);
    given(type, "type");
    const auto in = npu::acl::values_of(inputs, input_count, "inputs");
    auto out = npu::acl::values_of(results, result_count, "results");
    const auto describe = [](const void* op, npu::device::TaskName& name) {
      name.node = static_cast<const char*>(op);
      name.type = npu::graph::ir_type(name.node);
    };
    npu::ops::run_on(device, nullptr, {describe, type}, [&] { npu::graph::saturate_from_host(device, in, out); });
    for (size_t i = 0; i < result_count; ++i) {
      if (out[i].tensor.data == results[i]->value.tensor.data) continue;
      anynpu_value_release(results[i]);
      results[i] = wrapped(std::move(out[i]));
    }
  });
}

}  // extern "C"
