// SPDX-License-Identifier: Apache-2.0
#include "acl/unsupported.h"

#include "acl/call.h"
#include "acl/notice.h"

namespace npu::acl {
int refuse_unsupported(const UnsupportedFeature& feature) noexcept {
  return call(feature.name, [&] {
    // torch-npu asks for some features and drops the code; without a line on stderr its user waits for files that
    // nobody writes.
    print_once(feature.feature, fmt::format("{} ({}): {}", feature.feature, feature.name, feature.text));
    fail(Code::kFeatureUnsupported, "{}: {}", feature.feature, feature.text);
  });
}

}  // namespace npu::acl
