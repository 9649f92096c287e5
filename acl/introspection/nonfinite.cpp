// SPDX-License-Identifier: Apache-2.0
#include "anynpu/nonfinite.h"

#include "graph/dump/tensor/nonfinite.h"

namespace npu::acl {
namespace {

using Visit = void (*)(const anynpu_nonfinite* found, void* context);

void show(const graph::NonFinite& from, Visit visit, void* context) {
  const std::string text = graph::to_string(from);
  anynpu_nonfinite out{};
  out.struct_size = sizeof out;
  out.device = from.device;
  out.type = from.type.c_str();
  out.node = from.node.c_str();
  out.graph = from.graph.c_str();
  out.step = from.step;
  out.output = from.output.c_str();
  out.dtype = static_cast<aclDataType>(from.dtype);
  out.rank = static_cast<int32_t>(from.shape.size());
  out.sizes = from.shape.data();
  out.infinities = from.infinities;
  out.nans = from.nans;
  out.of_infinities = from.of_infinities ? 1 : 0;
  out.text = text.c_str();
  visit(&out, context);
}

}  // namespace
}  // namespace npu::acl

void anynpu_watch_nonfinite(npu::acl::Visit visit, void* context) {
  if (visit == nullptr) return npu::graph::watch_nonfinite({});
  npu::graph::watch_nonfinite(
      [visit, context](const npu::graph::NonFinite& found) { npu::acl::show(found, visit, context); });
}
