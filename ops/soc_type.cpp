// SPDX-License-Identifier: Apache-2.0
#include "ops/soc_type.h"

namespace npu::ops {

void refuse_type(DType dtype, const std::string& what, std::string_view who, Code code) {
  fail(code,
       "{}: {} takes no {} on {}, which does not have this type; cast to float16 or float32, or choose another SoC by "
       "ANYNPU_SOC",
       what, who, name_of(dtype), device::soc().name);
}

void check_soc_types(Operator& op, std::string_view who, Code code) {
  const device::Soc& soc = device::soc();
  if (soc.lacks == 0) [[likely]]
    return;
  for_each_tensor(op, [&](Tensor& tensor, const Field& field) {
    if (tensor.defined() && !soc.has(tensor.dtype))
      refuse_type(tensor.dtype, fmt::format("{} is {}", field.name, tensor), who, code);
  });
}

}  // namespace npu::ops
