// SPDX-License-Identifier: Apache-2.0
#include "acl/include/aclnn/matmul_weight.h"

#include "acl/aclnn/object.h"
#include "acl/error_state.h"
#include "ops/matmul/blocked.h"

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,
                                             uint64_t* weightTensorSize) {
  return guarded("aclnnCalculateMatmulWeightSizeV2", [&] {
    if (tensorShape == nullptr || weightTensorSize == nullptr) {
      fail(Code::kNnNullPointer, "{} is null; it must be given",
           tensorShape == nullptr ? "tensorShape" : "weightTensorSize");
    }
    const auto& sizes = live(tensorShape, "aclIntArray").values;
    require(sizes.size() >= 2 && sizes.size() <= 6, "tensorShape has {} sizes; a weight has 2 to 6", sizes.size());
    // Sizes that no memory has are refused before they are multiplied.
    for (const int64_t size : sizes) require(size >= 0 && size < (int64_t{1} << 40), "tensorShape holds {}", size);
    *weightTensorSize = static_cast<uint64_t>(ops::blocked_elements(Dims(sizes), static_cast<DType>(dataType)));
  });
}
