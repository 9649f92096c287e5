// SPDX-License-Identifier: Apache-2.0
// The vendor's collectives: nodes that meet those of the same place in the graphs of the group's other ranks. They are
// stateful, so that all ranks come to them in one order.
#include "graph/plan/lowering.h"

namespace npu::graph {
namespace {

/// The operator `name` on input `i`, of which output `i` has the first axis `times` as long, or 1 / `parts` of that.
OperatorCall meet(Lowering& l, std::string_view name, size_t i = 0, int64_t times = 1, int64_t parts = 1) {
  const Planned self = l.input(i);
  Dims shape = self.shape();
  if (times != 1 || parts != 1) {
    require(!shape.empty() && shape[0] % parts == 0,
            "its input is {}; the first dimension is put together or cut along, so it is a multiple of {}", shape,
            parts);
    shape[0] = shape[0] * times / parts;
  }
  OperatorCall call = l.call(name);
  call.set("self", self)
      .set("hcom", l.attributes().get<std::string>("group"))
      .set("out", l.make(i, self.dtype(), shape));
  return call;
}

std::string reduction(const Lowering& l) { return l.attributes().get<std::string>("reduction"); }
int64_t ranks(const Lowering& l) { return l.attributes().get<int64_t>("rank_size"); }

void all_reduce(Lowering& l) { meet(l, "hcom_all_reduce").set("reduction", reduction(l)); }

void all_gather(Lowering& l) { meet(l, "hcom_all_gather", 0, ranks(l)); }

void reduce_scatter(Lowering& l) { meet(l, "hcom_reduce_scatter", 0, 1, ranks(l)).set("reduction", reduction(l)); }

void reduce(Lowering& l) {
  meet(l, "hcom_reduce").set("reduction", reduction(l)).set("root", l.attributes().get<int64_t>("root_rank"));
}

void broadcast(Lowering& l) {
  for (size_t i = 0; i < l.input_count(); ++i)
    meet(l, "hcom_broadcast", i).set("root", l.attributes().get<int64_t>("root_rank"));
}

NPU_NODE("HcomAllReduce", all_reduce);
NPU_NODE("HcomAllGather", all_gather);
NPU_NODE("HcomReduceScatter", reduce_scatter);
NPU_NODE("HcomReduce", reduce);
NPU_NODE("HcomBroadcast", broadcast);

}  // namespace
}  // namespace npu::graph
