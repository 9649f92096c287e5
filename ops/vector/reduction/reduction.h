// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes, any strides. Partial results are combined in an order that depends on sizes only, so bits
// do not change with the number of threads; float sums are kept in float lanes of at most 1024 elements and then in
// double.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/operator.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/loop/loop.h"

namespace npu::ops {

/// What running totals of T are kept in, where one of T's own precision would lose the small terms.
template <class T>
struct WideOf {
  using type = T;
};
template <>
struct WideOf<float> {
  using type = double;
};
template <>
struct WideOf<Complex64> {
  using type = Complex128;
};
template <class T>
using Wide = typename WideOf<T>::type;

/// One reduction in one compute dtype. An accumulator is `acc_size` bytes (at most 16); `param` is a number of the
/// operator (the order of a norm), `count` how many elements were reduced.
struct ReductionKernel {
  DType slot = DType::kUndefined;    ///< what inputs are converted to
  DType result = DType::kUndefined;  ///< what finish writes
  int64_t acc_size = 0;
  void (*init)(void* acc, int64_t n) = nullptr;
  void (*row)(const void* x, int64_t n, double param, void* acc) = nullptr;      ///< x[0..n) into one accumulator
  void (*columns)(const void* x, int64_t n, double param, void* acc) = nullptr;  ///< x[i] into acc[i]
  void (*merge)(const void* from, int64_t n, void* acc) = nullptr;
  void (*finish)(const void* acc, int64_t n, int64_t count, double param, void* out) = nullptr;
};

class Reduction {
 public:
  /// `axes`: bit i set = axis i of `in` is reduced. `out` has the kept axes, or all of them with size 1 (keepdim).
  /// Raises 161002 when the shapes disagree or a dtype has no conversion.
  void plan(const Tensor& in, uint32_t axes, const Tensor& out, const ReductionKernel& kernel, double param = 0);
  void run() const;
  int64_t cost() const { return 200 + kept_.count() * reduced_.count(); }

 private:
  void plan_parts();
  void run_part(int64_t part, std::byte* acc) const;
  void run_rows(int64_t kept, int64_t begin, int64_t end, std::byte* acc) const;
  void run_columns(int64_t kept, int64_t width, int64_t begin, int64_t end, std::byte* acc) const;
  void finish(int64_t kept, int64_t width, const std::byte* acc) const;

  ReductionKernel kernel_;
  double param_ = 0;
  Tensor in_;
  Tensor out_;
  Convert load_ = nullptr;
  Convert store_ = nullptr;
  Loop kept_;     ///< operand 0: input, 1: output
  Loop reduced_;  ///< operand 0: input
  bool by_columns_ = false;
  int64_t tile_ = 1;  ///< kept elements of one part
  int64_t tiles_ = 0;
  int64_t chunk_ = 0;  ///< reduced elements of one part
  int64_t chunks_ = 0;
};

/// The axes named by `dims` (negative allowed, empty = all) as bits. Raises 161002 on a repeated or bad dimension.
uint32_t axis_bits(const std::vector<int64_t>& dims, size_t rank);

/// What out must look like: `shape` without the axes of `axes`, or with size 1 there when `keepdim`.
Dims reduced_shape(const Dims& shape, uint32_t axes, bool keepdim);

}  // namespace npu::ops
