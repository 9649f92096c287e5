// SPDX-License-Identifier: Apache-2.0
// Vector norms over dimensions: ord 0 counts non-zeros, inf and -inf are the largest and smallest magnitude, any other
// p is (sum |x|^p)^(1/p), or without `root` the sum alone. Complex elements count with their magnitude.
#include <cmath>
#include <limits>

#include "ops/operator.h"
#include "ops/vector/reduction/reduction.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/reduce/norm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/reduction/reduction-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

namespace {

// Everything is kept in double, so that squares of large floats do not overflow.
struct Sums {
  template <class T>
  using Acc = double;
  template <class T>
  using Lane = double;
  template <class A>
  static A init() {
    return 0;
  }
  template <class A>
  static A combine(A a, A b) {
    return a + b;
  }
  template <class T, class A>
  static A finish(A a, int64_t, double) {
    return a;
  }
};

struct Nonzeros : Sums {
  template <class T>
  static double map(T x, double) {
    return x == T(0) ? 0.0 : 1.0;
  }
};

struct Magnitudes : Sums {
  template <class T>
  static double map(T x, double) {
    return static_cast<double>(abs_of(x));
  }
};

struct SquareSums : Sums {
  template <class T>
  static double map(T x, double) {
    // Without the root of the magnitude, which the square would take back.
    if constexpr ((std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>)) {
      return static_cast<double>(x.real()) * static_cast<double>(x.real()) +
             static_cast<double>(x.imag()) * static_cast<double>(x.imag());
    } else {
      return static_cast<double>(x) * static_cast<double>(x);
    }
  }
};

struct Squares : SquareSums {
  template <class T, class A>
  static A finish(A a, int64_t, double) {
    return std::sqrt(a);
  }
};

// A 0 makes a norm of negative order 0: its power is infinite, the root of infinity then 0.
struct PowerSums : Sums {
  template <class T>
  static double map(T x, double p) {
    return std::pow(static_cast<double>(abs_of(x)), p);
  }
};

struct Powers : PowerSums {
  template <class T, class A>
  static A finish(A a, int64_t, double p) {
    return std::pow(a, 1 / p);
  }
};

// Begins at 0, the least magnitude there is, so the norm of nothing is 0.
struct Largest : Magnitudes {
  template <class A>
  static A combine(A a, A b) {
    return a > b || a != a ? a : b;
  }
};

struct Smallest : Magnitudes {
  template <class A>
  static A init() {
    return std::numeric_limits<A>::infinity();
  }
  template <class A>
  static A combine(A a, A b) {
    return a < b || a != a ? a : b;
  }
};

}  // namespace

// The usual orders have kernels of their own: pow costs more than the sum, and p = 0, inf and -inf are limits that it
// does not reach.
ReductionKernel norm_kernel(double p, bool root, DType slot) {
  if (p == 0) return floating_reduction<Nonzeros>(slot);
  if (p == 1) return floating_reduction<Magnitudes>(slot);
  if (p == 2) return root ? floating_reduction<Squares>(slot) : floating_reduction<SquareSums>(slot);
  if (std::isinf(p)) return p > 0 ? floating_reduction<Largest>(slot) : floating_reduction<Smallest>(slot);
  return root ? floating_reduction<Powers>(slot) : floating_reduction<PowerSums>(slot);
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(norm_kernel);

struct VectorNorm final : Operator {
  Tensor self, out;
  double ord = 2;
  bool root = true;
  std::vector<int64_t> dim;
  // keepdim and dtype are not read: out's shape and type say both, and sums are double in any case.
  bool keepdim = false;
  DType dtype = DType::kUndefined;
  Reduction reduction;

  void prepare() override {
    const ReductionKernel kernel = HWY_DYNAMIC_DISPATCH(norm_kernel)(ord, root, slot_of(self.dtype));
    require(kernel.row != nullptr, "self is {}; a norm needs a floating or complex dtype", self);
    // Of a negative order the norm of nothing would be infinite; torch refuses it too.
    require(ord >= 0 || self.count() > 0 || out.count() == 0,
            "self is {}; the norm of order {} of nothing does not exist", self, ord);
    reduction.plan(self, axis_bits(dim, self.rank()), out, kernel, ord);
  }
  void run() override { reduction.run(); }
  int64_t cost() const override { return 2 * reduction.cost(); }
};

NPU_OPERATOR(VectorNorm, "vector_norm", "reduce", in<&VectorNorm::self>("self"), attr<&VectorNorm::ord>("ord"),
             attr<&VectorNorm::root>("root"), attr<&VectorNorm::dim>("dim"), attr<&VectorNorm::keepdim>("keepdim"),
             attr<&VectorNorm::dtype>("dtype"), out<&VectorNorm::out>("out"));

}  // namespace
}  // namespace npu::ops
#endif
