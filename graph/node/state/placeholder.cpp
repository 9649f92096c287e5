// SPDX-License-Identifier: Apache-2.0
// What the client was to give and did not.
#include "graph/plan/lowering.h"

namespace npu::graph {
namespace {

void placeholder(Lowering& l) {
  const auto* shape = l.attributes().find<PartialShape>("shape");
  fail(Code::kNnInvalidParam, "You must feed a value for placeholder tensor '{}' with dtype {} and shape {}",
       l.node().client_name, to_string(l.node().outputs.front().type), shape == nullptr ? "?" : to_string(*shape));
}

NPU_NODE("Placeholder", placeholder);

}  // namespace
}  // namespace npu::graph
