// SPDX-License-Identifier: Apache-2.0
// The device's overflow word as operators of a graph: loss scaling reads it when the gradients are there, and clears
// it. Both are stateful; control edges order them.
#include <algorithm>

#include "device/context/overflow.h"
#include "graph/plan/lowering.h"
#include "graph/run/frame.h"

namespace npu::graph {
namespace {

constexpr int64_t kWords = 8;  // what the vendor's operator gives; all of them 0 means no overflow

void read_status(Lowering& l) {
  const Planned out = l.late(0, DType::kInt32, {kWords});
  l.run({out}, [out](Frame& frame) {
    const int device = frame.device();
    Value words = make_value(device, DType::kInt32, {kWords});
    auto* first = words.tensor.as<int32_t>();
    std::fill_n(first, kWords, 0);
    *first = static_cast<int32_t>(device::overflow_word(device));
    frame.set(out, std::move(words));
  });
}

void clear_status(Lowering& l) {
  l.run({}, [](Frame& frame) { device::clear_overflow(frame.device()); });
}

// The first edition, of float32: the words go from operator to operator. What is read stands in the output; the input
// is left as it is, for a value of a graph never changes.
void first_edition(Lowering& l) {
  if (l.input_count() > 0)
    require(l.dtype(0) == DType::kFloat && l.shape(0) == Dims({kWords}),
            "the float status is {}{}; it must be the {} numbers that NpuAllocFloatStatus gives", name_of(l.dtype(0)),
            l.shape(0), kWords);
  const auto device = static_cast<int64_t>(l.device());
  OperatorCall call = l.call(l.target());
  call.set("out", l.make(0, DType::kFloat, {kWords}));
  if (l.input_count() > 0) call.set("device", device);
}

NPU_NODE(Kind::kAllocateFloatStatus, first_edition, "alloc_float_status");
NPU_NODE(Kind::kGetFloatStatus, first_edition, "get_float_status");
NPU_NODE(Kind::kClearFloatStatus, first_edition, "clear_float_status");
NPU_NODE(Kind::kReadFloatStatus, read_status);
NPU_NODE(Kind::kResetFloatStatus, clear_status);

}  // namespace
}  // namespace npu::graph
