// SPDX-License-Identifier: Apache-2.0
// The device's overflow word as operators of a graph: loss scaling reads it when the gradients are there, and clears
// it. Both are stateful; control edges order them.
#include <algorithm>

#include "device/overflow.h"
#include "graph/frame.h"
#include "graph/lowering.h"

namespace npu::graph {
namespace {

constexpr int64_t kWords = 8;  // what the vendor's operator gives; all of them 0 means no overflow

void read_status(Lowering& l) {
  const Planned out = l.late(0, DType::kInt32, {kWords});
  l.run({out}, [out](Frame& frame) {
    const int device = frame.library().device();
    Value words = make_value(device, DType::kInt32, {kWords});
    auto* first = words.tensor.as<int32_t>();
    std::fill_n(first, kWords, 0);
    *first = static_cast<int32_t>(device::overflow_word(device));
    frame.set(out, std::move(words));
  });
}

void clear_status(Lowering& l) {
  l.run({}, [](Frame& frame) { device::clear_overflow(frame.library().device()); });
}

NPU_NODE("NpuGetFloatStatusV2", read_status);
NPU_NODE("NpuClearFloatStatusV2", clear_status);

}  // namespace
}  // namespace npu::graph
