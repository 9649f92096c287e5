// SPDX-License-Identifier: Apache-2.0
// What a branch gives for a value that only the other branch computes: nobody reads it, but it flows.
#include <algorithm>

#include "graph/plan/lowering.h"
#include "graph/run/frame.h"
#include "graph/value/value.h"

namespace npu::graph {
namespace {

class Absent final : public Object {
 public:
  std::string traits() const override { return "absent"; }
};

/// Of the shape that the node tells; what is open has no elements.
Dims shape_of(const Lowering& l) {
  const auto* told = l.attributes().find<PartialShape>("shape");
  if (told == nullptr || !told->rank_known()) return {0};
  Dims out = *told->dims;
  for (int64_t& size : out) size = std::max<int64_t>(size, 0);
  return out;
}

void absent(Lowering& l) {
  const ValueType type = l.node().outputs.front().type;
  if (!is_object(type)) {
    const Dims shape = shape_of(l);
    const auto bytes = static_cast<size_t>(count_of(shape)) * size_of(type.dtype);
    l.constant(0, {type, shape, std::make_shared<const std::vector<std::byte>>(bytes), nullptr});
    return;
  }
  const Planned out = l.object(0);
  l.run({out}, [out](Frame& frame) {
    Value value;
    value.object = std::make_shared<Absent>();
    frame.set(out, std::move(value));
  });
}

/// A result of a branch that was not taken: the run ends there.
void missing(Lowering& l) {
  const ValueType type = l.node().outputs.front().type;
  const Planned out = is_object(type) ? l.object(0) : l.late(0, type.dtype, {0});
  l.run({out}, [](Frame&) {
    fail(
        Code::kNnInvalidParam,
        "Retval does not have value: it stands in a branch of a condition that was not taken, with no Merge behind it; "
        "fetch what tf.cond gives");
  });
}

NPU_NODE("FakeParam", absent);
NPU_NODE("_Missing", missing);

}  // namespace
}  // namespace npu::graph
