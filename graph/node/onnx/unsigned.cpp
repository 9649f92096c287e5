// SPDX-License-Identifier: Apache-2.0
// What ONNX does with uint64 and the kernels of int64 do otherwise: order, quotients, shifts. Element by element, for
// the few graphs that have them.
#include <algorithm>

#include "graph/node/onnx/inputs.h"
#include "graph/run/frame.h"

namespace npu::graph::onnx {
namespace {

constexpr uint64_t kWidth = 64;

uint64_t compute(std::string_view op, uint64_t x, uint64_t y) {
  if (op == "max") return std::max(x, y);
  if (op == "min") return std::min(x, y);
  if (op == "remainder") return y == 0 ? 0 : x % y;
  if (op == "quotient") return y == 0 ? 0 : x / y;
  if (y >= kWidth) return 0;
  return op == "left" ? x << y : x >> y;
}

Planned wide(Lowering& l, size_t i, const Dims& shape) {
  const Planned out = l.scratch(DType::kUInt64, shape);
  copy(l, expanded(l.input(i), shape), out);
  return out;
}

void binary(Lowering& l) {
  const Dims shape = broadcast(l.shape(0), l.shape(1));
  const Planned x = wide(l, 0, shape), y = wide(l, 1, shape), out = l.make(0, DType::kUInt64, shape);
  l.run({x, y, out}, [x, y, out, op = l.target()](Frame& frame) {
    const Tensor a = frame.tensor(x), b = frame.tensor(y), to = frame.tensor(out);
    for (int64_t i = 0; i < to.count(); ++i)
      to.as<uint64_t>()[i] = compute(op, a.as<uint64_t>()[i], b.as<uint64_t>()[i]);
  });
}

/// x < y, or x <= y.
void comparison(Lowering& l) {
  const Dims shape = broadcast(l.shape(0), l.shape(1));
  const Planned x = wide(l, 0, shape), y = wide(l, 1, shape), out = l.make(0, DType::kBool, shape);
  l.run({x, y, out}, [x, y, out, equal = l.target() == "less_equal"](Frame& frame) {
    const Tensor a = frame.tensor(x), b = frame.tensor(y), to = frame.tensor(out);
    for (int64_t i = 0; i < to.count(); ++i)
      to.as<bool>()[i] =
          a.as<uint64_t>()[i] < b.as<uint64_t>()[i] || (equal && a.as<uint64_t>()[i] == b.as<uint64_t>()[i]);
  });
}

NPU_NODE("ai.onnx::UnsignedLess", comparison, "less");
NPU_NODE("ai.onnx::UnsignedLessEqual", comparison, "less_equal");
NPU_NODE("ai.onnx::UnsignedMax", binary, "max");
NPU_NODE("ai.onnx::UnsignedMin", binary, "min");
NPU_NODE("ai.onnx::UnsignedDiv", binary, "quotient");
NPU_NODE("ai.onnx::UnsignedMod", binary, "remainder");
NPU_NODE("ai.onnx::UnsignedLeftShift", binary, "left");
NPU_NODE("ai.onnx::UnsignedRightShift", binary, "right");

}  // namespace
}  // namespace npu::graph::onnx
