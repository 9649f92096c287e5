// SPDX-License-Identifier: Apache-2.0
// Results whose size depends on the data: nonzero, masked_select. The client passes a buffer for the largest result, or
// for exactly the one that it knows, and reads the final shape from its output object; the result is stored row-major
// at the buffer's start. masked_scatter is the reverse of masked_select.
// Two passes: the first counts by parts, so that in the second each part knows where its results begin. The order of
// the results is that of the elements, for any number of threads.
#include <numeric>

#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"
#include "ops/vector/loop/told_shape.h"

namespace npu::ops {
namespace {

constexpr int64_t kPart = 1 << 15;  // elements counted at a time
constexpr int64_t kBlock = 512;

/// How many true elements each part of kPart holds, as running sums: part p's results start at result[p].
std::vector<int64_t> count_parts(const OrderedTensor& mask) {
  const int64_t parts = (mask.count() + kPart - 1) / kPart;
  std::vector<int64_t> starts(static_cast<size_t>(parts + 1));
  parallel_parts(parts, [&](int64_t part) {
    bool values[kBlock];
    const int64_t end = std::min(mask.count(), (part + 1) * kPart);
    int64_t total = 0;
    for (int64_t at = part * kPart; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      mask.load(at, n, values);
      total += std::count(values, values + n, true);
    }
    starts[static_cast<size_t>(part + 1)] = total;
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

/// Calls `body(position, rank)` for each true element; rank counts them.
template <class F>
void for_each_true(const OrderedTensor& mask, const std::vector<int64_t>& starts, F&& body) {
  parallel_parts(static_cast<int64_t>(starts.size()) - 1, [&](int64_t part) {
    bool values[kBlock];
    const int64_t end = std::min(mask.count(), (part + 1) * kPart);
    int64_t rank = starts[static_cast<size_t>(part)];
    for (int64_t at = part * kPart; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      mask.load(at, n, values);
      for (int64_t i = 0; i < n; ++i) {
        if (values[i]) body(at + i, rank++);
      }
    }
  });
}

// columns = false: out is [found, rank]; true: [rank, found].
struct Nonzero final : Operator {
  Tensor self, out;
  bool columns = false;
  OrderedTensor mask;

  void prepare() override {
    require(out.dtype == DType::kInt64 && out.contiguous(), "out is {}; positions need a contiguous int64 tensor", out);
    mask = OrderedTensor(self, DType::kBool);
  }
  void run() override {
    const std::vector<int64_t> starts = count_parts(mask);
    const int64_t found = starts.back();
    const auto rank = static_cast<int64_t>(self.rank());
    const Dims shape = columns ? Dims{rank, found} : Dims{found, rank};
    check_room(out, "out", shape);
    auto* to = out.as<int64_t>();
    for_each_true(mask, starts, [&](int64_t position, int64_t at) {
      for (int64_t axis = rank; axis-- > 0;) {
        const int64_t size = self.shape[static_cast<size_t>(axis)];
        to[columns ? axis * found + at : at * rank + axis] = position % size;
        position /= size;
      }
    });
    set_shape(out, shape);
  }
  int64_t cost() const override { return 500 + 4 * self.count(); }
};

struct MaskedSelect final : Operator {
  Tensor self, mask, out;
  OrderedTensor wanted;
  Loop source;

  void prepare() override {
    const Dims shape = broadcast(self.shape, mask.shape);
    require(mask.dtype == DType::kBool || mask.dtype == DType::kUInt8, "mask is {}; it is a bool tensor", mask);
    require(self.dtype == out.dtype && out.contiguous(), "out is {}; it is a contiguous tensor of self's dtype ({})",
            out, self.dtype);
    wanted = OrderedTensor(mask.expanded(shape), DType::kBool);
    const Tensor wide = self.expanded(shape);
    source = make_ordered_loop(shape, {&wide.strides, 1});
  }
  void run() override {
    const std::vector<int64_t> starts = count_parts(wanted);
    check_room(out, "out", {starts.back()});
    const auto size = static_cast<int64_t>(size_of(self.dtype));
    const bool dense = source.dense(0);
    for_each_true(wanted, starts, [&](int64_t position, int64_t at) {
      const int64_t offset = dense ? position : LoopCursor(source, position).offset(0);
      // Bytes, whatever the dtype: a NaN keeps its payload.
      std::memcpy(out.bytes() + at * size, self.bytes() + offset * size, static_cast<size_t>(size));
    });
    set_shape(out, {starts.back()});
  }
  int64_t cost() const override { return 500 + 6 * wanted.count(); }
};

// self[mask] = source.flatten()[: number of true elements].
struct MaskedScatter final : Operator {
  Tensor self, mask, source;
  OrderedTensor wanted;

  void prepare() override {
    require(mask.dtype == DType::kBool || mask.dtype == DType::kUInt8, "mask is {}; it is a bool tensor", mask);
    require(self.dtype == source.dtype, "self is {}, source is {}; both have the same dtype", self, source);
    wanted = OrderedTensor(mask.expanded(self.shape), DType::kBool);
  }
  void run() override {
    const std::vector<int64_t> starts = count_parts(wanted);
    // The number is on the device, so too short a source is seen only here, before anything is written.
    require(starts.back() <= source.count(),
            "mask has {} true elements, source has {}; source must hold at least as many", starts.back(),
            source.count());
    const Loop from = make_ordered_loop(source.shape, {&source.strides, 1});
    const Loop to = make_ordered_loop(self.shape, {&self.strides, 1});
    const auto size = static_cast<int64_t>(size_of(self.dtype));
    for_each_true(wanted, starts, [&](int64_t position, int64_t at) {
      std::memcpy(self.bytes() + LoopCursor(to, position).offset(0) * size,
                  source.bytes() + LoopCursor(from, at).offset(0) * size, static_cast<size_t>(size));
    });
  }
  int64_t cost() const override { return 500 + 6 * wanted.count(); }
};

NPU_OPERATOR(Nonzero, "nonzero", "index", in<&Nonzero::self>("self"), attr<&Nonzero::columns>("columns"),
             out<&Nonzero::out>("out"));
NPU_OPERATOR(MaskedSelect, "masked_select", "index", in<&MaskedSelect::self>("self"), in<&MaskedSelect::mask>("mask"),
             out<&MaskedSelect::out>("out"))
    .is(kMovesBits);
NPU_OPERATOR(MaskedScatter, "masked_scatter", "index", inout<&MaskedScatter::self>("self"),
             in<&MaskedScatter::mask>("mask"), in<&MaskedScatter::source>("source"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
