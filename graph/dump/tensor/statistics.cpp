// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "ops/runner/overflow.h"
#include "ops/vector/loop/loop.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graph/dump/tensor/statistics.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#ifndef ANYNPU_GRAPH_DUMP_TENSOR_PART
#define ANYNPU_GRAPH_DUMP_TENSOR_PART
namespace npu::graph {

/// What is known of a part of the elements.
struct PartStatistics {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least = kInfinity, most = -kInfinity, sum = 0, squares = 0;
  int64_t finite = 0, above = 0, below = 0;

  void add(const PartStatistics& other) {
    least = std::min(least, other.least), most = std::max(most, other.most);
    sum += other.sum, squares += other.squares;
    finite += other.finite, above += other.above, below += other.below;
  }
};

}  // namespace npu::graph
#endif

HWY_BEFORE_NAMESPACE();
namespace npu::graph::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One by one, for parts that hold what is not finite.
template <class T>
void add_any(const T* values, size_t count, PartStatistics& to) {
  for (size_t i = 0; i < count; ++i) {
    const double v = values[i];
    to.above += v == PartStatistics::kInfinity;
    to.below += v == -PartStatistics::kInfinity;
    if (!(std::fabs(v) < PartStatistics::kInfinity)) continue;
    to.least = std::min(to.least, v), to.most = std::max(to.most, v);
    to.sum += v, to.squares += v * v;
    ++to.finite;
  }
}

/// In vectors of the elements' own type, a block at a time. An element that is not finite, or too large to be squared,
/// leaves no finite sum of squares: the block is then done again.
template <class T>
void add(const T* values, size_t count, PartStatistics& to) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto least0 = hn::Set(d, std::numeric_limits<T>::infinity()), least1 = least0;
  auto most0 = hn::Neg(least0), most1 = most0;
  auto sum0 = hn::Zero(d), sum1 = sum0, squares0 = sum0, squares1 = sum0;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto a = hn::LoadU(d, values + i), b = hn::LoadU(d, values + i + lanes);
    least0 = hn::Min(least0, a), least1 = hn::Min(least1, b);
    most0 = hn::Max(most0, a), most1 = hn::Max(most1, b);
    sum0 = hn::Add(sum0, a), sum1 = hn::Add(sum1, b);
    squares0 = hn::MulAdd(a, a, squares0), squares1 = hn::MulAdd(b, b, squares1);
  }
  const double squares = hn::GetLane(hn::SumOfLanes(d, hn::Add(squares0, squares1)));
  if (!(squares < PartStatistics::kInfinity)) return add_any(values, count, to);
  PartStatistics part;
  if (i > 0) {
    part.least = hn::GetLane(hn::MinOfLanes(d, hn::Min(least0, least1)));
    part.most = hn::GetLane(hn::MaxOfLanes(d, hn::Max(most0, most1)));
    part.sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
    part.squares = squares;
    part.finite = static_cast<int64_t>(i);
  }
  to.add(part);
  add_any(values + i, count - i, to);
}

void add_floats(const float* values, size_t count, PartStatistics& to) { add(values, count, to); }
void add_doubles(const double* values, size_t count, PartStatistics& to) { add(values, count, to); }

}  // namespace npu::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::graph {
namespace {

HWY_EXPORT(add_floats);
HWY_EXPORT(add_doubles);

constexpr int64_t kBlock = 1024;    // elements that are converted, and summed up, at a time
constexpr int64_t kPart = 1 << 16;  // elements of a thread's share: sums do not depend on the number of threads

DType slot_for(DType dtype) {
  if (is_complex(dtype)) return DType::kComplex128;
  return dtype == DType::kHalf || dtype == DType::kBFloat16 || dtype == DType::kFloat ? DType::kFloat : DType::kDouble;
}

/// Reads a tensor block by block, in the type that it is summed in.
class Blocks {
 public:
  explicit Blocks(const Tensor& tensor)
      : tensor_(tensor),
        slot_(slot_for(tensor.dtype)),
        convert_(ops::converter(tensor.dtype, slot_)),
        strides_{tensor.strides},
        loop_(ops::make_loop(tensor.shape, strides_)) {}

  void add(int64_t begin, int64_t count, PartStatistics& to) const {
    const auto n = static_cast<size_t>(count);
    if (tensor_.dtype == DType::kFloat && loop_.dense(0))
      return HWY_DYNAMIC_DISPATCH(add_floats)(tensor_.as<float>() + begin, n, to);
    std::array<std::complex<double>, kBlock> block;  // room for any of them
    void* const values = block.data();
    ops::gather(loop_, 0, tensor_.bytes(), static_cast<int64_t>(size_of(tensor_.dtype)), begin, count, convert_,
                static_cast<std::byte*>(values), static_cast<int64_t>(size_of(slot_)));
    if (slot_ == DType::kFloat) return HWY_DYNAMIC_DISPATCH(add_floats)(static_cast<float*>(values), n, to);
    auto* const numbers = static_cast<double*>(values);
    if (slot_ == DType::kComplex128)
      for (size_t i = 0; i < n; ++i) numbers[i] = std::hypot(numbers[2 * i], numbers[2 * i + 1]);
    HWY_DYNAMIC_DISPATCH(add_doubles)(numbers, n, to);
  }

 private:
  const Tensor& tensor_;
  const DType slot_;
  const ops::Convert convert_;
  const std::array<Dims, 1> strides_;
  const ops::Loop loop_;
};

Statistics close(const PartStatistics& all, int64_t count) {
  Statistics out;
  out.nans = count - all.finite - all.above - all.below;
  out.positive_infinities = all.above, out.negative_infinities = all.below;
  out.least = all.least, out.most = all.most;
  out.mean = all.sum / static_cast<double>(all.finite), out.l2norm = std::sqrt(all.squares);
  if (all.finite == 0) out.least = out.most = out.mean = std::numeric_limits<double>::quiet_NaN();
  return out;
}

}  // namespace

bool has_statistics(DType dtype) { return ops::converter(dtype, slot_for(dtype)) != nullptr; }

Statistics statistics_of(const Tensor& tensor) {
  const Blocks blocks(tensor);
  const int64_t count = tensor.count();
  std::vector<PartStatistics> parts(static_cast<size_t>((count + kPart - 1) / kPart));
  parallel_for(static_cast<int64_t>(parts.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      const int64_t end = std::min(count, (part + 1) * kPart);
      for (int64_t at = part * kPart; at < end; at += kBlock)
        blocks.add(at, std::min(kBlock, end - at), parts[static_cast<size_t>(part)]);
    }
  });
  PartStatistics all;
  for (const PartStatistics& part : parts) all.add(part);
  return close(all, count);
}

std::optional<Statistics> statistics_if_not_finite(const Tensor& tensor) {
  if ((!is_floating(tensor.dtype) && !is_complex(tensor.dtype)) || !has_statistics(tensor.dtype)) return {};
  // The three that saturate are looked at faster than their numbers are gathered.
  const bool quick = tensor.dtype == DType::kFloat || tensor.dtype == DType::kHalf || tensor.dtype == DType::kBFloat16;
  if (quick && !ops::has_overflow(tensor)) return {};
  const Statistics all = statistics_of(tensor);
  return all.nans + all.infinities() > 0 ? std::optional(all) : std::nullopt;
}

}  // namespace npu::graph
#endif
