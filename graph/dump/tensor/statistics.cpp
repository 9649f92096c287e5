// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "base/error.h"
#include "ops/vector/loop/loop.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graph/dump/tensor/statistics.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef ANYNPU_GRAPH_DUMP_TENSOR_LANES
#define ANYNPU_GRAPH_DUMP_TENSOR_LANES
namespace npu::graph {

/// What has been seen so far, in columns that the compiler keeps in vectors; column i has every kColumns-th element.
struct Columns {
  static constexpr int kCount = 8;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least[kCount], most[kCount], sum[kCount] = {}, squares[kCount] = {};
  int64_t finite[kCount] = {}, above[kCount] = {}, below[kCount] = {};
  Columns() { std::fill_n(least, kCount, kInfinity), std::fill_n(most, kCount, -kInfinity); }
};

}  // namespace npu::graph
#endif

HWY_BEFORE_NAMESPACE();
namespace npu::graph::HWY_NAMESPACE {

void add(const double* values, int64_t count, Columns& to) {
  constexpr double kInfinity = Columns::kInfinity;
  for (int64_t i = 0; i < count; i += Columns::kCount) {
    for (int c = 0; c < Columns::kCount; ++c) {
      const double v = values[i + c];
      const bool finite = std::fabs(v) < kInfinity;  // false for NaN
      const double kept = finite ? v : 0;
      to.least[c] = finite && v < to.least[c] ? v : to.least[c];
      to.most[c] = finite && v > to.most[c] ? v : to.most[c];
      to.sum[c] += kept;
      to.squares[c] += kept * kept;
      to.finite[c] += finite;
      to.above[c] += v == kInfinity;
      to.below[c] += v == -kInfinity;
    }
  }
}

}  // namespace npu::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::graph {
namespace {

HWY_EXPORT(add);

constexpr int64_t kBlock = 1024;  // elements, a multiple of the columns

Statistics close(const Columns& columns, int64_t count) {
  Statistics out;
  double sum = 0, squares = 0;
  int64_t finite = 0;
  out.least = Columns::kInfinity, out.most = -Columns::kInfinity;
  for (int c = 0; c < Columns::kCount; ++c) {
    out.least = std::min(out.least, columns.least[c]), out.most = std::max(out.most, columns.most[c]);
    sum += columns.sum[c], squares += columns.squares[c];
    finite += columns.finite[c];
    out.positive_infinities += columns.above[c], out.negative_infinities += columns.below[c];
  }
  out.nans = count - finite - out.positive_infinities - out.negative_infinities;
  out.mean = sum / static_cast<double>(finite), out.l2norm = std::sqrt(squares);
  if (finite == 0) out.least = out.most = out.mean = std::numeric_limits<double>::quiet_NaN();
  return out;
}

DType slot_for(DType dtype) { return is_complex(dtype) ? DType::kComplex128 : DType::kDouble; }

}  // namespace

bool has_statistics(DType dtype) { return ops::converter(dtype, slot_for(dtype)) != nullptr; }

Statistics statistics_of(const Tensor& tensor) {
  const bool complex = is_complex(tensor.dtype);
  const ops::Convert convert = ops::converter(tensor.dtype, slot_for(tensor.dtype));
  const Dims strides[] = {tensor.strides};
  const ops::Loop loop = ops::make_loop(tensor.shape, strides);
  Columns columns;
  std::array<std::complex<double>, kBlock> wide;
  alignas(64) std::array<double, kBlock> block;
  const auto size = static_cast<int64_t>(size_of(tensor.dtype));
  for (int64_t begin = 0; begin < tensor.count(); begin += kBlock) {
    const int64_t n = std::min(kBlock, tensor.count() - begin);
    void* const to = complex ? static_cast<void*>(wide.data()) : block.data();
    ops::gather(loop, 0, tensor.bytes(), size, begin, n, convert, static_cast<std::byte*>(to), complex ? 16 : 8);
    for (int64_t i = 0; complex && i < n; ++i) block[static_cast<size_t>(i)] = std::abs(wide[static_cast<size_t>(i)]);
    // What fills the last row up is neither finite nor infinite, and counted as nothing.
    const int64_t end = (n + Columns::kCount - 1) / Columns::kCount * Columns::kCount;
    std::fill(block.begin() + n, block.begin() + end, std::numeric_limits<double>::quiet_NaN());
    HWY_DYNAMIC_DISPATCH(add)(block.data(), end, columns);
  }
  return close(columns, tensor.count());
}

}  // namespace npu::graph
#endif
