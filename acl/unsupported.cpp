// SPDX-License-Identifier: Apache-2.0
#include "acl/unsupported.h"

#include "acl/runtime/call.h"

namespace npu::acl {

int refuse_unsupported(const UnsupportedFeature& feature) noexcept {
  return call(feature.name, [&] { fail(Code::kFeatureUnsupported, "{}: {}", feature.feature, feature.text); });
}

}  // namespace npu::acl
