// SPDX-License-Identifier: Apache-2.0
// TensorFlow's rules, with its order of operations: an epsilon under the root or beside it is another result. Numbers
// are rounded to the kernel's type once a call, not with each element.
#include "ops/optimizer/rule.h"

#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/optimizer/rule.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {  // templates of other files must not meet these

/// One element of every block, by reference; the gradient by value.
template <class T>
struct Element {
  T& var;
  T &first, &second, &third;
  T grad;
};

/// Calls `body(element)` for all elements; `kStates` blocks stand between the parameter and the gradient.
template <class T, int kStates, class F>
HWY_INLINE void each(void* const* blocks, int64_t count, F body) {
  T* var = static_cast<T*>(blocks[0]);
  T* state[3];
  // A rule with fewer states gets the parameter's block in their place and never touches it.
  for (int k = 0; k < 3; ++k) state[k] = static_cast<T*>(blocks[k < kStates ? k + 1 : 0]);
  T *first = state[0], *second = state[1], *third = state[2];
  const T* grad = static_cast<const T*>(blocks[kStates + 1]);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    body(Element<T>{var[i], first[i], second[i], third[i], grad[i]});
  }
}

template <class T>
void gradient_descent(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]);
  each<T, 0>(blocks, count, [=](auto e) HWY_ATTR { e.var -= rate * e.grad; });
}

template <class T>
void proximal_gradient_descent(void* const* blocks, int64_t count, const double* p) {
  // Products of numbers are taken in double and rounded once.
  const T rate = static_cast<T>(p[0]), bound = static_cast<T>(p[0] * p[1]), shrink = static_cast<T>(1 + p[0] * p[2]);
  each<T, 0>(blocks, count, [=](auto e) HWY_ATTR {
    const T moved = e.var - rate * e.grad;
    const T kept = max_of(abs_of(moved) - bound, T(0));
    e.var = (bound > T(0) ? sign_of(moved) * kept : moved) / shrink;
  });
}

template <class T>
void momentum(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), factor = static_cast<T>(p[1]);
  // Nesterov is a choice of factors, so one loop serves both.
  const T ahead = p[2] != 0 ? factor : T(1), direct = p[2] != 0 ? rate : T(0);
  each<T, 1>(blocks, count, [=](auto e) HWY_ATTR {
    e.first = e.first * factor + e.grad;
    e.var -= e.grad * direct + e.first * ahead * rate;
  });
}

// The velocity carries the rate, so that a change of the rate does not change steps already taken.
template <class T>
void velocity(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), factor = static_cast<T>(p[1]);
  const T ahead = p[2] != 0 ? factor : T(1), direct = p[2] != 0 ? rate : T(0);
  each<T, 1>(blocks, count, [=](auto e) HWY_ATTR {
    e.first = e.first * factor - e.grad * rate;
    e.var += e.first * ahead - e.grad * direct;
  });
}

template <class T>
void adagrad(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), epsilon = static_cast<T>(p[1]), added = static_cast<T>(p[2]);
  each<T, 1>(blocks, count, [=](auto e) HWY_ATTR {
    e.first += added * (e.grad * e.grad);
    e.var -= e.grad * rate / (sqrt_of(e.first) + epsilon);
  });
}

// As above without an epsilon.
template <class T>
void plain_adagrad(void* const* blocks, int64_t count, const double* p) {
  // One kernel, two spellings of its list: the older operator has no epsilon.
  const double with_epsilon[] = {p[0], 0, p[1]};
  adagrad<T>(blocks, count, with_epsilon);
}

// The gradient step of adagrad, then a step towards 0 of the same length for l1 and a division for l2.
template <class T>
void proximal_adagrad(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), l1 = static_cast<T>(p[1]), l2 = static_cast<T>(p[2]);
  each<T, 1>(blocks, count, [=](auto e) HWY_ATTR {
    e.first += e.grad * e.grad;
    const T step = rate / sqrt_of(e.first);
    const T moved = e.var - e.grad * step, kept = max_of(abs_of(moved) - step * l1, T(0));
    e.var = (l1 > T(0) ? sign_of(moved) * kept : moved) / (T(1) + l2 * step);
  });
}

// Dual averaging: the parameter follows from the sums of gradients and of squares and the number of steps.
template <class T>
void adagrad_da(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), bound = static_cast<T>(p[1] * p[3]), curve = static_cast<T>(p[2] * p[3] * p[0]);
  each<T, 2>(blocks, count, [=](auto e) HWY_ATTR {
    e.first += e.grad;
    e.second += e.grad * e.grad;
    const T kept = sign_of(e.first) * max_of(abs_of(e.first) - bound, T(0));
    e.var = -(bound > T(0) ? kept : e.first) * rate / (curve + sqrt_of(e.second));
  });
}

template <class T>
void adadelta(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), kept = static_cast<T>(p[1]), epsilon = static_cast<T>(p[2]);
  each<T, 2>(blocks, count, [=](auto e) HWY_ATTR {
    e.first = e.first * kept + e.grad * e.grad * (T(1) - kept);
    const T step = sqrt_of(e.second + epsilon) / sqrt_of(e.first + epsilon) * e.grad;
    e.second = e.second * kept + step * step * (T(1) - kept);
    e.var -= step * rate;
  });
}

template <class T>
void ada_max(void* const* blocks, int64_t count, const double* p) {
  // The correction of the first moment goes into the rate.
  const T rate = static_cast<T>(p[1] / (1 - p[0])), beta1 = static_cast<T>(p[2]), beta2 = static_cast<T>(p[3]);
  const T epsilon = static_cast<T>(p[4]);
  each<T, 2>(blocks, count, [=](auto e) HWY_ATTR {
    e.first += (e.grad - e.first) * (T(1) - beta1);
    // A maximum in place of a mean of squares: it needs no correction.
    e.second = max_of(beta2 * e.second, abs_of(e.grad));
    e.var -= rate * (e.first / (e.second + epsilon));
  });
}

template <class T>
void rms_prop(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), added = static_cast<T>(1 - p[1]), factor = static_cast<T>(p[2]);
  const T epsilon = static_cast<T>(p[3]);
  each<T, 2>(blocks, count, [=](auto e) HWY_ATTR {
    e.first += (e.grad * e.grad - e.first) * added;
    e.second = e.second * factor + e.grad * rate / sqrt_of(e.first + epsilon);
    e.var -= e.second;
  });
}

// The states are the mean gradient, the mean square and the momentum.
template <class T>
void centered_rms_prop(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), added = static_cast<T>(1 - p[1]), factor = static_cast<T>(p[2]);
  const T epsilon = static_cast<T>(p[3]);
  each<T, 3>(blocks, count, [=](auto e) HWY_ATTR {
    e.second += (e.grad * e.grad - e.second) * added;
    e.first += (e.grad - e.first) * added;
    // The variance, which rounding may leave a little below 0; epsilon is under the root for that.
    e.third = e.third * factor + e.grad * rate / sqrt_of((e.second - e.first * e.first) + epsilon);
    e.var -= e.third;
  });
}

template <class T>
HWY_INLINE T agreement(T a, T b) {
  return sign_of(a) * sign_of(b);
}

template <class T>
void power_sign(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), scale = static_cast<T>(p[1] * p[2]), beta = static_cast<T>(p[3]);
  each<T, 1>(blocks, count, [=](auto e) HWY_ATTR {
    e.first = e.first * beta + e.grad * (T(1) - beta);
    e.var -= rate * exp_of(scale * agreement(e.grad, e.first)) * e.grad;
  });
}

template <class T>
void add_sign(void* const* blocks, int64_t count, const double* p) {
  const T rate = static_cast<T>(p[0]), alpha = static_cast<T>(p[1]), decay = static_cast<T>(p[2]);
  const T beta = static_cast<T>(p[3]);
  each<T, 1>(blocks, count, [=](auto e) HWY_ATTR {
    e.first = e.first * beta + e.grad * (T(1) - beta);
    e.var -= rate * (alpha + decay * agreement(e.grad, e.first)) * e.grad;
  });
}

template <class T>
struct FtrlNumbers {
  T rate, l1, l2, shrinkage, power;
  bool linear_by_rate;
};

template <class T, class Root>
HWY_INLINE void ftrl_with(void* const* blocks, int64_t count, const FtrlNumbers<T>& n, Root root) {
  // Where the linear term carries the rate, everything measured against it does too.
  const T per_rate = n.linear_by_rate ? T(1) : T(1) / n.rate, carried = n.linear_by_rate ? n.rate : T(1);
  const T bound = n.l1 * carried, curve = T(2) * n.l2 * carried, shrink = T(2) * n.shrinkage;
  each<T, 2>(blocks, count, [=](auto e) HWY_ATTR {
    const T grad = e.grad + shrink * e.var;
    const T sum = e.first + e.grad * e.grad, now = root(sum);
    e.second += grad * carried - (now - root(e.first)) * per_rate * e.var;
    const T over = e.second - (e.second > T(0) ? bound : -bound);
    e.var = abs_of(e.second) > bound ? -over / (now * per_rate + curve) : T(0);
    e.first = sum;
  });
}

template <class T>
void any_ftrl(void* const* blocks, int64_t count, const FtrlNumbers<T>& n) {
  // -lr_power is 0.5 almost always, and a root is far cheaper than a power.
  const T power = n.power;
  if (power == T(0.5)) return ftrl_with<T>(blocks, count, n, [](T x) HWY_ATTR { return sqrt_of(x); });
  ftrl_with<T>(blocks, count, n, [power](T x) HWY_ATTR { return pow_of(x, power); });
}

template <class T>
void ftrl(void* const* blocks, int64_t count, const double* p) {
  // The client's power is negative; the kernel raises to its opposite.
  any_ftrl<T>(
      blocks, count,
      {static_cast<T>(p[0]), static_cast<T>(p[1]), static_cast<T>(p[2]), T(0), static_cast<T>(-p[3]), p[4] != 0});
}

template <class T>
void shrinking_ftrl(void* const* blocks, int64_t count, const double* p) {
  any_ftrl<T>(blocks, count,
              {static_cast<T>(p[0]), static_cast<T>(p[1]), static_cast<T>(p[2]), static_cast<T>(p[3]),
               static_cast<T>(-p[4]), p[5] != 0});
}

#define NPU_RULE(name, states, numbers, flag, kernel) {name, states, numbers, flag, &kernel<float>, &kernel<double>}
constexpr Rule kRules[] = {
    NPU_RULE("apply_gradient_descent", "", "lr", "", gradient_descent),
    NPU_RULE("apply_proximal_gradient_descent", "", "lr, l1, l2", "", proximal_gradient_descent),
    NPU_RULE("apply_momentum", "accum", "lr, momentum", "use_nesterov", momentum),
    NPU_RULE("apply_keras_momentum", "accum", "lr, momentum", "use_nesterov", velocity),
    NPU_RULE("apply_adagrad", "accum", "lr", "update_slots=1", plain_adagrad),
    NPU_RULE("apply_adagrad_v2", "accum", "lr, epsilon", "update_slots=1", adagrad),
    NPU_RULE("apply_proximal_adagrad", "accum", "lr, l1, l2", "", proximal_adagrad),
    NPU_RULE("apply_adagrad_da", "gradient_sum, square_sum", "lr, l1, l2, global_step", "", adagrad_da),
    NPU_RULE("apply_adadelta", "accum, accum_update", "lr, rho, epsilon", "", adadelta),
    NPU_RULE("apply_ada_max", "m, v", "beta1_power, lr, beta1, beta2, epsilon", "", ada_max),
    NPU_RULE("apply_rms_prop", "ms, mom", "lr, rho, momentum, epsilon", "", rms_prop),
    NPU_RULE("apply_centered_rms_prop", "mg, ms, mom", "lr, rho, momentum, epsilon", "", centered_rms_prop),
    NPU_RULE("apply_power_sign", "m", "lr, logbase, sign_decay, beta", "", power_sign),
    NPU_RULE("apply_add_sign", "m", "lr, alpha, sign_decay, beta", "", add_sign),
    NPU_RULE("apply_ftrl", "accum, linear", "lr, l1, l2, lr_power", "multiply_linear_by_lr", ftrl),
    NPU_RULE("apply_ftrl_v2", "accum, linear", "lr, l1, l2, l2_shrinkage, lr_power", "multiply_linear_by_lr",
             shrinking_ftrl),
};
#undef NPU_RULE

std::span<const Rule> rules() { return kRules; }

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
HWY_EXPORT(rules);
std::span<const Rule> update_rules() { return HWY_DYNAMIC_DISPATCH(rules)(); }
}  // namespace npu::ops
#endif
