// SPDX-License-Identifier: Apache-2.0
#include "acl/include/hccl/hccl.h"
#include "acl/runtime/call.h"

using namespace npu;  // NOLINT: the C functions below are the door itself

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  // Nothing is kept: sums have one fixed order whatever the client asks for.
  const int code = acl::call("HcclSetConfig", [&] {
    if (config != HCCL_DETERMINISTIC)
      fail(Code::kInvalidParam, "config is {}; only 0 (HCCL_DETERMINISTIC) is known", static_cast<int>(config));
    if (configValue.value < 0 || configValue.value > 2)
      fail(Code::kInvalidParam, "configValue is {}; determinism is 0, 1 or 2", configValue.value);
  });
  return code == 0 ? HCCL_SUCCESS : HCCL_E_PARA;
}
