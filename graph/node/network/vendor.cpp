// SPDX-License-Identifier: Apache-2.0
// Operators that the vendor's adapter adds to TensorFlow's: its approximation of GELU, and dropout by a mask of bits.
#include "graph/node/array.h"
#include "graph/node/generator.h"
#include "graph/plan/lowering.h"
#include "graph/run/frame.h"

namespace npu::graph {
namespace {

constexpr int64_t kMaskBits = 128;  // masks are as long as a multiple of this many elements

void fast_gelu(Lowering& l) {
  l.call("fast_gelu").set("self", l.input(0)).set("out", l.make(0, l.dtype(0), l.shape(0)));
}

void fast_gelu_grad(Lowering& l) {
  require(l.shape(0) == l.shape(1), "gradients are {}, features {}: the shapes must be equal", l.shape(0), l.shape(1));
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  l.call("fast_gelu_backward").set("grad_output", l.input(0)).set("self", l.input(1)).set("out", out);
}

/// How likely an element is dropped, from the probability that it is kept.
double dropped(const Lowering& l, size_t keep) {
  const double kept = number(l, keep).to_double();
  require(kept > 0 && kept <= 1, "keep_prob is {}; it lies above 0 and not above 1", kept);
  return 1 - kept;
}

void gen_mask(Lowering& l) {
  const std::vector<int64_t> shape = l.integers(0);
  for (const int64_t size : shape) require(size >= 0, "a size of {} is asked for", size);
  const double p = dropped(l, 1);
  const int64_t elements = count_of(Dims(shape));
  const Planned mask = l.make(0, DType::kUInt8, {(elements + kMaskBits - 1) / kMaskBits * (kMaskBits / 8)});
  const auto generator = node_generator(l);
  const Planned seed = l.scratch(DType::kInt64, {1}), offset = l.scratch(DType::kInt64, {1});
  l.run({seed, offset}, [=](Frame& frame) {
    const ops::RandomCounter from = generator->reserve(1);  // each offset has a stream of its own
    *frame.tensor(seed).as<uint64_t>() = from.key ^ from.high;
    *frame.tensor(offset).as<uint64_t>() = from.low;
  });
  l.call("dropout_mask")
      .set("shape", shape)
      .set("p", p)
      .set("mask", mask)
      .set("seed_tensor", seed)
      .set("offset_tensor", offset);
}

void do_mask(Lowering& l) {
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  l.call("dropout_apply").set("self", l.input(0)).set("mask", l.input(1)).set("p", dropped(l, 2)).set("out", out);
}

NPU_NODE("FastGelu", fast_gelu);
NPU_NODE("FastGeluGrad", fast_gelu_grad);
NPU_NODE("DropOutGenMask", gen_mask);
NPU_NODE("DropOutDoMask", do_mask);

}  // namespace
}  // namespace npu::graph
