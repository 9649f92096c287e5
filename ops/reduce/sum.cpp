// SPDX-License-Identifier: Apache-2.0
// sum, mean, prod and nansum over dimensions.
#include "base/wrap.h"
#include "ops/operator.h"
#include "ops/vector/reduction/reduction.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/reduce/sum.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/reduction/reduction-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

namespace {

// Lanes of T between wide totals: a lane takes 32 elements of a block, where float loses little and twice as many are
// added at once; blocks are then added in double. Integers wrap, as torch's do.
struct Sum {
  template <class T>
  using Acc = Wide<T>;
  template <class T>
  using Lane = T;
  template <class A>
  static A init() {
    return A(0);
  }
  template <class T>
  static T map(T x, double) {
    return x;
  }
  template <class A>
  static A combine(A a, A b) {
    return wrap_add(a, b);
  }
  // The result stays wide: it is rounded once, into the output's dtype.
  template <class T, class A>
  static A finish(A a, int64_t, double) {
    return a;
  }
};

struct Mean : Sum {
  template <class T, class A>
  static A finish(A a, int64_t count, double) {
    if constexpr (std::is_integral_v<A>) {
      if (count == 0) return 0;  // where floats give NaN
    }
    return a / A(count);
  }
};

// Wide from the first factor: a product of few floats leaves float's range, and its relative error grows with every
// one.
struct Product : Sum {
  template <class T>
  using Lane = Wide<T>;
  template <class A>
  static A init() {
    return A(1);
  }
  template <class A>
  static A combine(A a, A b) {
    return wrap_multiply(a, b);
  }
};

struct NanSum : Sum {
  template <class T>
  static T map(T x, double) {
    // Of a complex number either part may be the NaN; the whole of it is left out.
    return x == x ? x : T(0);
  }
};

template <class F>
ReductionKernel kernel_for(DType slot) {
  return slot == DType::kInt64 ? reduction_kernel<F, int64_t>() : floating_reduction<F>(slot);
}

}  // namespace

// `which`: sum, mean, prod, nansum.
ReductionKernel sum_kernel(int which, DType slot) {
  if (which == 0) return kernel_for<Sum>(slot);
  if (which == 1) return kernel_for<Mean>(slot);
  return which == 2 ? kernel_for<Product>(slot) : kernel_for<NanSum>(slot);
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(sum_kernel);

// dim: empty reduces all. dtype: the type inputs are converted to first; undefined takes the output's.
template <int kWhich>
struct SumOver final : Operator {
  Tensor self;
  std::vector<int64_t> dim;
  bool keepdim = false;
  DType dtype = DType::kUndefined;
  Tensor out;
  Reduction reduction;

  void prepare() override {
    // Elements are converted before they are added: a sum of integers into a floating type adds floats.
    DType slot = slot_of(dtype == DType::kUndefined ? out.dtype : dtype);
    // A sum of bools counts.
    if (slot == DType::kBool) slot = DType::kInt64;
    const ReductionKernel kernel = HWY_DYNAMIC_DISPATCH(sum_kernel)(kWhich, slot);
    require(kernel.row != nullptr, "dtype {} cannot be summed; choose a number type", dtype);
    reduction.plan(self, axis_bits(dim, self.rank()), out, kernel);
  }
  void run() override { reduction.run(); }
  int64_t cost() const override { return reduction.cost(); }
};

using ReduceSum = SumOver<0>;
using ReduceMean = SumOver<1>;
using ReduceProd = SumOver<2>;
using ReduceNanSum = SumOver<3>;

#define NPU_SUM_FIELDS(type)                                                                                      \
  in<&type::self>("self"), attr<&type::dim>("dim"), attr<&type::keepdim>("keepdim"), attr<&type::dtype>("dtype"), \
      out<&type::out>("out")
NPU_OPERATOR(ReduceSum, "sum", "reduce", NPU_SUM_FIELDS(ReduceSum));
NPU_OPERATOR(ReduceMean, "mean", "reduce", NPU_SUM_FIELDS(ReduceMean));
NPU_OPERATOR(ReduceProd, "prod", "reduce", NPU_SUM_FIELDS(ReduceProd));
NPU_OPERATOR(ReduceNanSum, "nansum", "reduce", NPU_SUM_FIELDS(ReduceNanSum));

}  // namespace
}  // namespace npu::ops
#endif
