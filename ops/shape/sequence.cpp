// SPDX-License-Identifier: Apache-2.0
// Tensors made from nothing: arange, linspace, logspace, eye. Computed in float64 or int64 and rounded once.
#include <cmath>

#include "base/wrap.h"
#include "ops/operator.h"
#include "ops/vector/elementwise/move.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

constexpr int64_t kBlock = 512;

/// Fills `out` with `f(i)`, i counting its elements in row-major order.
template <class T, class F>
void fill_by_index(const OrderedTensor& out, F&& f) {
  parallel_for(out.count(), 1 << 14, [&](int64_t begin, int64_t end) {
    T block[kBlock];
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      for (int64_t i = 0; i < n; ++i) block[i] = f(at + i);
      out.store(at, n, block);
    }
  });
}

// start, start + step, …; how many is out's size.
struct Arange final : Operator {
  Scalar start, end, step;
  Tensor out;
  OrderedTensor target;
  bool whole = false;

  void prepare() override {
    require(!is_complex(out.dtype), "out is {}; a range needs a real dtype", out);
    require(step.to_double() != 0, "step is 0; a range needs one that is not");
    require((end.to_double() - start.to_double()) * step.to_double() >= 0 || out.count() == 0,
            "start is {}, end is {}, step is {}: the step leads away from the end", start.to_double(), end.to_double(),
            step.to_double());
    whole = start.is_integral() && step.is_integral();
    // int64 where all is whole: double has no room for every integer beyond 2^53.
    target = OrderedTensor(out, whole && !is_floating(out.dtype) ? DType::kInt64 : DType::kDouble);
    whole = whole && !is_floating(out.dtype);
  }
  void run() override {
    if (whole) {
      const int64_t first = start.to_int(), by = step.to_int();
      // Each element from its index, not from the one before: rounding does not add up, and threads begin anywhere.
      fill_by_index<int64_t>(target, [=](int64_t i) { return wrap_add(first, wrap_multiply(i, by)); });
    } else {
      // Into a whole-number dtype every term is truncated, as torch does.
      const bool cut = !is_floating(out.dtype);
      const double first = cut ? static_cast<double>(start.to_int()) : start.to_double();
      const double by = cut ? static_cast<double>(step.to_int()) : step.to_double();
      fill_by_index<double>(target, [=](int64_t i) { return first + static_cast<double>(i) * by; });
    }
  }
  int64_t cost() const override { return 100 + out.count(); }
};

// base 0: the numbers themselves; else base to their power.
struct Linspace final : Operator {
  Scalar start, end;
  int64_t steps = 0;
  double base = 0;
  Tensor out;
  OrderedTensor target;

  void prepare() override {
    require(steps >= 0 && out.count() == steps, "steps is {}, out is {}", steps, out);
    target = OrderedTensor(out, is_complex(out.dtype) ? DType::kComplex128 : DType::kDouble);
  }
  template <class T>
  void fill(T first, T last) {
    const T step = steps > 1 ? (last - first) / static_cast<double>(steps - 1) : T(0);
    fill_by_index<T>(target, [=, this](int64_t i) {
      // From both ends, so that the last element is exact.
      const bool first_half = i < steps / 2 || steps == 1;
      const T value =
          first_half ? first + step * static_cast<double>(i) : last - step * static_cast<double>(steps - 1 - i);
      return base == 0 ? value : std::pow(T(base), value);
    });
  }
  void run() override {
    if (is_complex(out.dtype)) {
      fill(start.to_complex(), end.to_complex());
    } else if (!is_floating(out.dtype) && steps > 1) {
      // Both ends of several whole numbers are whole, as torch has it.
      fill(static_cast<double>(start.to_int()), static_cast<double>(end.to_int()));
    } else {
      fill(start.to_double(), end.to_double());
    }
  }
  int64_t cost() const override { return 100 + 2 * out.count(); }
};

struct Eye final : Operator {
  int64_t n = 0, m = 0;
  Tensor out;
  Move zeros, ones;

  void prepare() override {
    check_shape(out, "out", {n, m});
    zeros.plan(Operand{.tensor = {}, .scalar = Scalar(0)}, out);
    // Over the zeros: the diagonal is a vector whose one step goes down and right.
    ones.plan(Operand{.tensor = {}, .scalar = Scalar(1)},
              out.view({std::min(n, m)}, {out.strides[0] + out.strides[1]}));
  }
  void run() override {
    zeros.run();
    ones.run();
  }
  int64_t cost() const override { return zeros.cost() + ones.cost(); }
};

NPU_OPERATOR(Arange, "arange", "shape", attr<&Arange::start>("start"), attr<&Arange::end>("end"),
             attr<&Arange::step>("step"), out<&Arange::out>("out"));
NPU_OPERATOR(Linspace, "linspace", "shape", attr<&Linspace::start>("start"), attr<&Linspace::end>("end"),
             attr<&Linspace::steps>("steps"), attr<&Linspace::base>("base"), out<&Linspace::out>("out"));
NPU_OPERATOR(Eye, "eye", "shape", attr<&Eye::n>("n"), attr<&Eye::m>("m"), out<&Eye::out>("out")).is(kMovesBits);

}  // namespace
}  // namespace npu::ops
