// SPDX-License-Identifier: Apache-2.0
#include "ops/soc_type.h"

#include <gtest/gtest.h>

#include "device/device_fixture.h"
#include "device/process/soc_fixture.h"

namespace npu::ops {
namespace {

std::unique_ptr<Operator> add_of(DType dtype) {
  static float memory[4];
  std::unique_ptr<Operator> op = create(*find_operator("add"));
  for (const Field& field : op->def->fields)
    if (field.name == "self" || field.name == "other" || field.name == "out")
      for_each_tensor(field, *op, [&](Tensor& tensor) { tensor = make_tensor(memory, dtype, Dims({2})); });
  return op;
}

TEST(SocType, TheFirstGenerationTakesNoBfloat16) {
  for (const char* name : {"Ascend910A", "Ascend310P3"}) {
    const device::OnSoc soc(name);
    EXPECT_ERROR(
        check_soc_types(*add_of(DType::kBFloat16), "aclnnAdd", Code::kNnInvalidParam), Code::kNnInvalidParam,
        std::string("self is bfloat16[2]: aclnnAdd takes no bfloat16 on ") + name +
            ", which does not have this type; cast to float16 or float32, or choose another SoC by ANYNPU_SOC");
    for (const DType dtype : {DType::kHalf, DType::kFloat, DType::kInt64})
      EXPECT_NO_THROW(check_soc_types(*add_of(dtype), "aclnnAdd", Code::kNnInvalidParam));
  }
}

TEST(SocType, TheSecondGenerationTakesIt) {
  const device::OnSoc soc("Ascend910B1");
  EXPECT_NO_THROW(check_soc_types(*add_of(DType::kBFloat16), "aclnnAdd", Code::kNnInvalidParam));
}

}  // namespace
}  // namespace npu::ops
