// SPDX-License-Identifier: Apache-2.0
// amax, amin, aminmax, all and any over dimensions. A NaN wins over every number.
#include <limits>

#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/reduction/reduction.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/reduce/extreme.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/reduction/reduction-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

namespace {

// Nothing is rounded, so lanes and totals keep the type itself. `combine` hands a NaN on from either side.
struct Kept {
  template <class T>
  using Acc = T;
  template <class T>
  using Lane = T;
  template <class T>
  static T map(T x, double) {
    return x;
  }
  template <class T, class A>
  static A finish(A a, int64_t, double) {
    return a;
  }
};

// Begins at -inf, not at lowest(), which would beat a row of minus infinities.
struct Largest : Kept {
  template <class A>
  static A init() {
    if constexpr (std::is_floating_point_v<A>)
      return -std::numeric_limits<A>::infinity();
    else
      return std::numeric_limits<A>::lowest();
  }
  template <class A>
  static A combine(A a, A b) {
    return a > b || a != a ? a : b;
  }
};

struct Smallest : Kept {
  template <class A>
  static A init() {
    if constexpr (std::is_floating_point_v<A>)
      return std::numeric_limits<A>::infinity();
    else
      return std::numeric_limits<A>::max();
  }
  template <class A>
  static A combine(A a, A b) {
    return a < b || a != a ? a : b;
  }
};

// Over bools, which are 0 or 1 once converted; a NaN is not 0 and counts as true.
struct All : Kept {
  template <class A>
  static A init() {
    return true;
  }
  template <class A>
  static A combine(A a, A b) {
    return static_cast<A>(a & b);
  }
};

struct Any : Kept {
  template <class A>
  static A init() {
    return false;
  }
  template <class A>
  static A combine(A a, A b) {
    return static_cast<A>(a | b);
  }
};

template <class F>
ReductionKernel ordered_kernel(DType slot) {
  switch (slot) {
    case DType::kFloat: return reduction_kernel<F, float>();
    case DType::kDouble: return reduction_kernel<F, double>();
    default: return reduction_kernel<F, int64_t>();
  }
}

}  // namespace

ReductionKernel extreme_kernel(int which, DType slot) {
  switch (which) {
    case 0: return ordered_kernel<Largest>(slot);
    case 1: return ordered_kernel<Smallest>(slot);
    case 2: return reduction_kernel<All, bool>();
    default: return reduction_kernel<Any, bool>();
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(extreme_kernel);

void plan_extreme(Reduction& reduction, int which, const Tensor& self, const std::vector<int64_t>& dim,
                  const Tensor& out) {
  const uint32_t axes = axis_bits(dim, self.rank());
  // all and any of nothing are true and false; only an extreme of nothing is refused.
  const bool ordered = which < 2;
  for (size_t axis = 0; ordered && axis < self.rank(); ++axis) {
    require((axes >> axis & 1u) == 0 || self.shape[axis] > 0 || out.count() == 0,
            "self is {}: dimension {} is empty, and an extreme of nothing does not exist", self, axis);
  }
  require(!ordered || out.dtype == self.dtype, "self is {}, the result is {}: an extreme has the dtype of self", self,
          out);
  reduction.plan(self, axes, out,
                 HWY_DYNAMIC_DISPATCH(extreme_kernel)(which, ordered ? real_slot(self.dtype) : DType::kBool));
}

template <int kWhich>
struct Extreme final : Operator {
  Tensor self, out;
  std::vector<int64_t> dim;
  bool keepdim = false;
  Reduction reduction;

  void prepare() override { plan_extreme(reduction, kWhich, self, dim, out); }
  void run() override { reduction.run(); }
  int64_t cost() const override { return reduction.cost(); }
};

// Two reductions: a kernel has one accumulator and one result.
struct AminAmax final : Operator {
  Tensor self, min, max;
  std::vector<int64_t> dim;
  bool keepdim = false;
  Reduction smallest, largest;

  void prepare() override {
    plan_extreme(smallest, 1, self, dim, min);
    plan_extreme(largest, 0, self, dim, max);
  }
  void run() override {
    smallest.run();
    largest.run();
  }
  int64_t cost() const override { return 2 * smallest.cost(); }
};

using Amax = Extreme<0>;
using Amin = Extreme<1>;
using AllOf = Extreme<2>;
using AnyOf = Extreme<3>;

#define NPU_EXTREME_FIELDS(type) \
  in<&type::self>("self"), attr<&type::dim>("dim"), attr<&type::keepdim>("keepdim"), out<&type::out>("out")
NPU_OPERATOR(Amax, "amax", "reduce", NPU_EXTREME_FIELDS(Amax)).is(kMovesBits);
NPU_OPERATOR(Amin, "amin", "reduce", NPU_EXTREME_FIELDS(Amin)).is(kMovesBits);
NPU_OPERATOR(AllOf, "all", "reduce", NPU_EXTREME_FIELDS(AllOf));
NPU_OPERATOR(AnyOf, "any", "reduce", NPU_EXTREME_FIELDS(AnyOf));
NPU_OPERATOR(AminAmax, "aminmax", "reduce", in<&AminAmax::self>("self"), attr<&AminAmax::dim>("dim"),
             attr<&AminAmax::keepdim>("keepdim"), out<&AminAmax::min>("min"), out<&AminAmax::max>("max"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
#endif
