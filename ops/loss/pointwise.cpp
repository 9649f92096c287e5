// SPDX-License-Identifier: Apache-2.0
// Losses that are one expression of input and target, and their gradients. A line gives both:
//
//   loss    value of one element:     x input, y target, w weight, p parameter (beta, pos_weight, log_target as 0 or 1)
//   slope   derivative with respect to x
//
// The gradient is slope · grad_output, divided by the number of elements for a mean.
#include "ops/loss/pointwise.h"

#include <array>
#include <deque>
#include <limits>
#include <span>
#include <string>

#include "ops/loss/reduction_mode.h"
#include "ops/operator.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/elementwise/elementwise.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/loss/pointwise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {

// One walk over all operands; a repeated number stands in for what a client left out.
template <class T, class F>
void loss_block(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  const auto* w = static_cast<const T*>(in[2]);
  const auto* p = static_cast<const T*>(in[3]);
  auto* r = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) r[i] = F{}(x[i], y[i], w[i], p[i]);
}

// The incoming gradient is one number or has the loss's shape; the mean's share is a factor, so that its rounding is
// the same for every element.
template <class T, class F>
void slope_block(const void* const* in, void* out, int64_t count) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  const auto* w = static_cast<const T*>(in[2]);
  const auto* p = static_cast<const T*>(in[3]);
  const auto* g = static_cast<const T*>(in[4]);
  const auto* share = static_cast<const T*>(in[5]);
  auto* r = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) r[i] = F{}(x[i], y[i], w[i], p[i]) * g[i] * share[i];
}

template <class L, class S>
constexpr LossKernel loss_kernel(const char* name, L, S) {
  return {name, &loss_block<float, L>, &loss_block<double, L>, &slope_block<float, S>, &slope_block<double, S>};
}
template <class S>
constexpr LossKernel gradient_kernel(const char* name, S) {
  return {name, nullptr, nullptr, &slope_block<float, S>, &slope_block<double, S>};
}
constexpr LossKernel with_log_target(LossKernel kernel) {
  kernel.takes_log_target = true;
  return kernel;
}

#define NPU_LOSS_EXPRESSION(expression)                                                                             \
  []([[maybe_unused]] auto x, [[maybe_unused]] auto y, [[maybe_unused]] auto w, [[maybe_unused]] auto p) HWY_ATTR { \
    using T = decltype(x);                                                                                          \
    return static_cast<T>(expression);                                                                              \
  }
#define NPU_LOSS(name, loss, slope) loss_kernel(name, NPU_LOSS_EXPRESSION(loss), NPU_LOSS_EXPRESSION(slope))
#define NPU_LOSS_GRADIENT(name, slope) gradient_kernel(name, NPU_LOSS_EXPRESSION(slope))

// log(1 + e^-|x|): the part of a logistic loss that neither overflows nor cancels. The quotient undoes the rounding
// of 1 + e.
template <class T>
HWY_INLINE T log1p_exp(T x) {
  const T e = exp_of(-abs_of(x));
  const T u = T(1) + e;
  const T rounded = u - T(1);
  return rounded == T(0) ? e : log_of(u) * (e / rounded);
}
// torch bounds the logarithms of binary cross entropy from below by -100.
template <class T>
HWY_INLINE T bounded_log(T x) {
  const T l = log_of(x);
  return l < T(-100) ? T(-100) : l;
}
template <class T>
HWY_INLINE T x_log_x(T x) {
  return x == T(0) ? T(0) : x * log_of(x);
}

constexpr LossKernel kLosses[] = {
    NPU_LOSS("mse_loss", (x - y) * (x - y), T(2) * (x - y)),
    NPU_LOSS("l1_loss", abs_of(x - y), sign_of(x - y)),
    // p = beta; beta 0 is the absolute difference.
    // The branch keeps the quotient by 0 out of the result.
    NPU_LOSS("smooth_l1_loss", abs_of(x - y) < p ? T(0.5) * (x - y) * (x - y) / p : abs_of(x - y) - T(0.5) * p,
             abs_of(x - y) < p ? (x - y) / p : sign_of(x - y)),
    NPU_LOSS("soft_margin_loss", (x * y < T(0) ? -x * y : T(0)) + log1p_exp(x * y), -y / (exp_of(x * y) + T(1))),
    // torch's floor of 1e-12 under x (1 - x): without it the ends would give infinities.
    NPU_LOSS("binary_cross_entropy", -w*(y* bounded_log(x) + (T(1) - y) * bounded_log(T(1) - x)),
             w*(x - y) / ((T(1) - x) * x > T(1e-12) ? (T(1) - x) * x : T(1e-12))),
    // p = weight of positive targets.
    // The stable form: no exponential of a positive number.
    NPU_LOSS("binary_cross_entropy_with_logits",
             w*((T(1) - y) * x + (T(1) + (p - T(1)) * y) * (log1p_exp(x) + (x < T(0) ? -x : T(0)))),
             w*((p * y + T(1) - y) * sigmoid_of(x) - p * y)),
    // p = 1 when the target is a logarithm.
    with_log_target(
        NPU_LOSS("kl_div", p != T(0) ? exp_of(y) * (y - x) : x_log_x(y) - y * x, p != T(0) ? -exp_of(y) : -y)),
    // The same loss with respect to the target.
    // 0 · log 0 counts as 0, also in its slope; the logarithm of a negative target is no number.
    with_log_target(NPU_LOSS_GRADIENT(
        "kl_div_target", p != T(0) ? exp_of(y) * (y - x + T(1)) : (y == T(0) ? T(0) : log_of(y) + T(1) - x))),
};

std::span<const LossKernel> losses() { return kLosses; }

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(losses);

// What forward and gradient share: the operands in the kernel's order.
struct LossBase : Operator {
  Tensor self, target, weight, pos_weight;
  double beta = 1;
  bool log_target = false;
  int64_t reduction = 1;
  bool batch_mean = false;  ///< a mean divides by the samples, the first axis, and not by the elements
  Elementwise loop;
  ReductionMode mode = ReductionMode::kMean;

  const LossKernel& kernel() const { return *static_cast<const LossKernel*>(def->data); }
  DType slot() const {
    const bool wide = self.dtype == DType::kDouble || target.dtype == DType::kDouble;
    return wide ? DType::kDouble : DType::kFloat;
  }
  // A line uses one of the parameters; the others keep their defaults.
  Operand parameter() const {
    if (pos_weight.defined()) return {pos_weight, {}};
    return {{}, Scalar(kernel().takes_log_target ? static_cast<double>(log_target) : beta)};
  }
  double divisor(const Dims& shape) const {
    return static_cast<double>(batch_mean && !shape.empty() ? shape[0] : count_of(shape));
  }
  void add_operands() {
    loop.add_input({self, {}}, slot());
    loop.add_input({target, {}}, slot());
    loop.add_input(weight.defined() ? Operand{weight, {}} : Operand{{}, Scalar(1)}, slot());
    loop.add_input(parameter(), slot());
  }
  void check(const Tensor& result) {
    mode = reduction_mode(reduction);
    require(!is_complex(self.dtype) && is_floating(result.dtype),
            "self is {}, the result is {}: losses are computed in floating point", self, result);
    require(!(beta < 0), "beta is {}; smooth_l1_loss does not support negative values for beta", beta);
  }
  int64_t cost() const override { return loop.cost(); }
};

struct Loss final : LossBase {
  Tensor out;
  int64_t count = 0;
  double divided_by = 1;

  void prepare() override {
    check(out);
    const Dims shape = broadcast(self.shape, target.shape);
    count = count_of(shape);
    divided_by = divisor(shape);
    const bool none = mode == ReductionMode::kNone;
    require(none ? out.shape == shape : out.count() == 1, "out is {}, the loss is {}", out,
            none ? to_string(shape) : "one number");
    // Without a reduction elements go straight into out; with one nothing is written but the sum.
    loop.set_output(none ? out : make_tensor(nullptr, slot(), shape), slot());
    add_operands();
    loop.plan(slot() == DType::kDouble ? kernel().loss64 : kernel().loss32);
  }
  void run() override {
    if (mode == ReductionMode::kNone) return loop.run();
    const double sum = count == 0 ? 0 : loop.sum();
    // The mean of nothing is 0 / 0, NaN, as in torch.
    store_element(out, 0, mode == ReductionMode::kMean ? sum / divided_by : sum);
  }
};

struct LossGradient final : LossBase {
  Tensor grad_output, grad_input;

  void prepare() override {
    check(grad_input);
    const Dims shape = broadcast(self.shape, target.shape);
    require(grad_input.shape == shape, "grad_input is {}, the gradient of {} and {} is {}", grad_input, self, target,
            shape);
    const double share = mode == ReductionMode::kMean ? 1 / divisor(shape) : 1;
    loop.set_output(grad_input, slot());
    add_operands();
    loop.add_input({grad_output, {}}, slot());
    loop.add_input({{}, Scalar(share)}, slot());
    loop.plan(slot() == DType::kDouble ? kernel().slope64 : kernel().slope32);
  }
  void run() override { loop.run(); }
};

template <class T>
std::vector<Field> shared_fields() {
  return {in<&T::self>("self"),
          in<&T::target>("target"),
          optional<&T::weight>("weight"),
          optional<&T::pos_weight>("pos_weight"),
          attr<&T::beta>("beta"),
          attr<&T::log_target>("log_target"),
          attr<&T::reduction>("reduction"),
          attr<&T::batch_mean>("batch_mean")};
}

// The names live as long as the registry.
std::deque<std::string>& names() {
  static auto& instance = *new std::deque<std::string>;
  return instance;
}

// Every line is registered as `name` (unless it is a gradient only) and `name`_backward.
struct LossFamily {
  explicit LossFamily(std::span<const LossKernel> kernels) {
    for (const LossKernel& kernel : kernels) {
      auto fields = shared_fields<Loss>();
      fields.push_back(out<&Loss::out>("out"));
      if (!kernel.gradient_only()) Registration(kernel.name, "loss", fields, &make<Loss>, &kernel);
      fields = shared_fields<LossGradient>();
      fields.push_back(in<&LossGradient::grad_output>("grad_output"));
      fields.push_back(out<&LossGradient::grad_input>("grad_input"));
      Registration(names().emplace_back(std::string(kernel.name) + "_backward"), "loss", fields, &make<LossGradient>,
                   &kernel);
    }
  }
};

const LossFamily register_losses(HWY_DYNAMIC_DISPATCH(losses)());

}  // namespace
}  // namespace npu::ops
#endif
