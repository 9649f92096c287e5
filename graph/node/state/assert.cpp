// SPDX-License-Identifier: Apache-2.0
// What must hold. The client is asked only when it does not, for it has the words: how to print what the node was
// given.
#include "graph/plan/lowering.h"
#include "graph/run/frame.h"

namespace npu::graph {
namespace {

bool holds(const void* first, DType dtype) { return Scalar(first, dtype).to_bool(); }

void assertion(Lowering& l) {
  const Planned condition = l.input(0);
  require(count_of(l.shape(0)) == 1, "the condition is {}; it must be a scalar", l.shape(0));
  if (condition.literal && holds(condition.literal->bytes->data(), condition.dtype())) return;
  l.run(l.inputs(), {}, [function = l.function(), node = l.node(), inputs = l.inputs()](Frame& frame) {
    const Tensor now = frame.tensor(inputs.front());
    if (holds(now.bytes(), now.dtype)) return;
    std::vector<Value> values;
    for (const Planned& input : inputs) values.push_back(frame.value(input));
    if (const HostNode& host = frame.environment().host()) {
      // Counted first: the client raises what it has to say.
      frame.environment().listener().ran_on_host(function, node, "it does not hold, and the client words the error",
                                                 values, {});
      host(node, values);
    }
    fail(Code::kNnInvalidParam, "assertion failed");
  });
}

NPU_NODE("Assert", assertion);

}  // namespace
}  // namespace npu::graph
