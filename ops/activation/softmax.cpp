// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax along one dimension, and their gradients from the results.
// The largest element is taken off first: no exponential overflows, and the largest one is 1. Sums meet in double, in
// an order that no number of threads changes. A NaN, or a line of -inf only, makes its line NaN, as in torch.
#include "ops/operator.h"
#include "ops/vector/loop/along.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/softmax.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"
#include "ops/vector/reduction/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {
namespace {  // templates of other files must not meet these

template <class T>
HWY_INLINE const T* input(const AlongBlock& b, size_t k) {
  return static_cast<const T*>(b.in[k]);
}

// --- one line in memory -----------------------------------------------------------------------------------------

template <class T>
void softmax_row(const AlongBlock& b) {
  const T* x = input<T>(b, 0);
  T* y = static_cast<T*>(b.out);
  const T top = row_max(x, b.length);
  const double sum = row_sum<T>(b.length, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    // Exponentials are computed once and wait in the output, which may be the input: each is written where it was read.
    const auto e = exp_below_zero(d, hn::Sub(load_lanes(d, x + i, count), hn::Set(d, top)));
    store_lanes(e, d, y + i, count);
    return full_or_zero(d, e, count);
  });
  const T scale = static_cast<T>(1 / sum);
  // One division a line; the product with the inverse rounds once more than a quotient would.
  for (int64_t i = 0; i < b.length; ++i) y[i] *= scale;
}

template <class T>
void log_softmax_row(const AlongBlock& b) {
  const T* x = input<T>(b, 0);
  T* y = static_cast<T*>(b.out);
  const T top = row_max(x, b.length);
  const double sum = row_sum<T>(b.length, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    // Nothing is stored yet: the output may be the input, which is read again below.
    const auto e = exp_below_zero(d, hn::Sub(load_lanes(d, x + i, count), hn::Set(d, top)));
    return full_or_zero(d, e, count);
  });
  const T shift = static_cast<T>(std::log(sum));
// In this order: top + shift in one number would lose the shift's digits where top is large.
#pragma GCC ivdep
  for (int64_t i = 0; i < b.length; ++i) y[i] = (x[i] - top) - shift;
}

// Operands of both gradients: the incoming gradient, then the result of the forward operator.
template <class T>
void softmax_backward_row(const AlongBlock& b) {
  const T* g = input<T>(b, 0);
  const T* y = input<T>(b, 1);
  T* out = static_cast<T*>(b.out);
  const auto dot = static_cast<T>(row_sum<T>(b.length, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    return hn::Mul(load_lanes(d, g + i, count), load_lanes(d, y + i, count));
  }));
#pragma GCC ivdep
  for (int64_t i = 0; i < b.length; ++i) out[i] = y[i] * (g[i] - dot);
}

template <class T>
void log_softmax_backward_row(const AlongBlock& b) {
  const T* g = input<T>(b, 0);
  const T* y = input<T>(b, 1);
  T* out = static_cast<T*>(b.out);
  const auto sum = static_cast<T>(
      row_sum<T>(b.length, [=](auto d, int64_t i, int64_t count) HWY_ATTR { return load_lanes(d, g + i, count); }));
  row_each<T>(b.length, [=](auto d, int64_t i, int64_t count) HWY_ATTR {
    const auto e = exp_below_zero(d, load_lanes(d, y + i, count));
    store_lanes(hn::NegMulAdd(e, hn::Set(d, sum), load_lanes(d, g + i, count)), d, out + i, count);
  });
}

// --- kColumns lines across memory: element i of all of them is one vector loop ------------------------------------

template <class T, class F>
HWY_INLINE void column_sum(int64_t length, double* total, F&& value) {
  for (int64_t c = 0; c < kColumns; ++c) total[c] = 0;
  // A column has one running sum, a row one for each lane of four registers: blocks are shorter here than row_sum's
  // 4096, so that float sums stay about as short.
  for (int64_t begin = 0; begin < length; begin += 256) {
    const int64_t end = length - begin < 256 ? length : begin + 256;
    T part[kColumns] = {};
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t c = 0; c < kColumns; ++c) part[c] += value(i, c);
    }
    for (int64_t c = 0; c < kColumns; ++c) total[c] += static_cast<double>(part[c]);
  }
}

template <class T>
HWY_INLINE void column_max(const T* x, int64_t step, int64_t length, T* top) {
  for (int64_t c = 0; c < kColumns; ++c) top[c] = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < length; ++i) {
    // A NaN loses every comparison and is passed over, as in row_max; the exponentials show it.
    for (int64_t c = 0; c < kColumns; ++c) top[c] = x[i * step + c] > top[c] ? x[i * step + c] : top[c];
  }
}

template <class T>
void softmax_columns(const AlongBlock& b) {
  const T* HWY_RESTRICT x = input<T>(b, 0);
  T* y = static_cast<T*>(b.out);
  T top[kColumns];
  double sum[kColumns];
  T scale[kColumns];
  column_max(x, b.step[0], b.length, top);
  for (int64_t i = 0; i < b.length; ++i) {
#pragma GCC ivdep
    for (int64_t c = 0; c < kColumns; ++c) y[i * b.out_step + c] = exp_of(x[i * b.step[0] + c] - top[c]);
  }
  column_sum<T>(b.length, sum, [=](int64_t i, int64_t c) HWY_ATTR { return y[i * b.out_step + c]; });
  for (int64_t c = 0; c < kColumns; ++c) scale[c] = static_cast<T>(1 / sum[c]);
  for (int64_t i = 0; i < b.length; ++i) {
    for (int64_t c = 0; c < kColumns; ++c) y[i * b.out_step + c] *= scale[c];
  }
}

template <class T>
void log_softmax_columns(const AlongBlock& b) {
  const T* x = input<T>(b, 0);
  T* y = static_cast<T*>(b.out);
  T top[kColumns];
  double sum[kColumns];
  T shift[kColumns];
  column_max(x, b.step[0], b.length, top);
  column_sum<T>(b.length, sum, [&](int64_t i, int64_t c) HWY_ATTR { return exp_of(x[i * b.step[0] + c] - top[c]); });
  for (int64_t c = 0; c < kColumns; ++c) shift[c] = static_cast<T>(std::log(sum[c]));
  for (int64_t i = 0; i < b.length; ++i) {
#pragma GCC ivdep
    for (int64_t c = 0; c < kColumns; ++c) y[i * b.out_step + c] = (x[i * b.step[0] + c] - top[c]) - shift[c];
  }
}

template <class T>
void softmax_backward_columns(const AlongBlock& b) {
  const T* g = input<T>(b, 0);
  const T* y = input<T>(b, 1);
  T* out = static_cast<T*>(b.out);
  double dot[kColumns];
  T shift[kColumns];
  column_sum<T>(b.length, dot,
                [=](int64_t i, int64_t c) HWY_ATTR { return g[i * b.step[0] + c] * y[i * b.step[1] + c]; });
  for (int64_t c = 0; c < kColumns; ++c) shift[c] = static_cast<T>(dot[c]);
  for (int64_t i = 0; i < b.length; ++i) {
#pragma GCC ivdep
    for (int64_t c = 0; c < kColumns; ++c) {
      out[i * b.out_step + c] = y[i * b.step[1] + c] * (g[i * b.step[0] + c] - shift[c]);
    }
  }
}

template <class T>
void log_softmax_backward_columns(const AlongBlock& b) {
  const T* g = input<T>(b, 0);
  const T* y = input<T>(b, 1);
  T* out = static_cast<T*>(b.out);
  double total[kColumns];
  T sum[kColumns];
  column_sum<T>(b.length, total, [=](int64_t i, int64_t c) HWY_ATTR { return g[i * b.step[0] + c]; });
  for (int64_t c = 0; c < kColumns; ++c) sum[c] = static_cast<T>(total[c]);
  for (int64_t i = 0; i < b.length; ++i) {
#pragma GCC ivdep
    for (int64_t c = 0; c < kColumns; ++c) {
      out[i * b.out_step + c] = g[i * b.step[0] + c] - exp_of(y[i * b.step[1] + c]) * sum[c];
    }
  }
}

template <class T>
constexpr AlongKernel kKernels[] = {{&softmax_row<T>, &softmax_columns<T>},
                                    {&log_softmax_row<T>, &log_softmax_columns<T>},
                                    {&softmax_backward_row<T>, &softmax_backward_columns<T>},
                                    {&log_softmax_backward_row<T>, &log_softmax_backward_columns<T>}};

AlongKernel softmax_kernel(int which, DType slot) {
  return slot == DType::kDouble ? kKernels<double>[which] : kKernels<float>[which];
}

}  // namespace
}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {
namespace {

HWY_EXPORT(softmax_kernel);

DType compute_slot(const Tensor& a, const Tensor& out) {
  require(is_floating(out.dtype), "out is {}: softmax results are floating point; choose float32, float16 or bfloat16",
          out);
  return a.dtype == DType::kDouble || out.dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
}

template <int kWhich>
struct SoftmaxForward final : Operator {
  Tensor self, out;
  int64_t dim = -1;
  Along along;

  void prepare() override {
    const DType slot = compute_slot(self, out);
    along.plan({&self, 1}, out, dim, slot, HWY_DYNAMIC_DISPATCH(softmax_kernel)(kWhich, slot));
  }
  void run() override { along.run(); }
  int64_t cost() const override { return along.cost(); }
};

template <int kWhich>
struct SoftmaxGradient final : Operator {
  Tensor grad_output, output, grad_input;
  int64_t dim = -1;
  Along along;

  void prepare() override {
    const DType slot = compute_slot(grad_output, grad_input);
    const Tensor inputs[] = {grad_output, output};
    along.plan(inputs, grad_input, dim, slot, HWY_DYNAMIC_DISPATCH(softmax_kernel)(kWhich, slot));
  }
  void run() override { along.run(); }
  int64_t cost() const override { return along.cost(); }
};

using Softmax = SoftmaxForward<0>;
using LogSoftmax = SoftmaxForward<1>;
using SoftmaxBackward = SoftmaxGradient<2>;
using LogSoftmaxBackward = SoftmaxGradient<3>;

#define NPU_SOFTMAX_FIELDS(type) in<&type::self>("self"), attr<&type::dim>("dim"), out<&type::out>("out")
#define NPU_SOFTMAX_GRADIENT_FIELDS(type)                                                      \
  in<&type::grad_output>("grad_output"), in<&type::output>("output"), attr<&type::dim>("dim"), \
      out<&type::grad_input>("grad_input")
NPU_OPERATOR(Softmax, "softmax", "activation", NPU_SOFTMAX_FIELDS(Softmax));
NPU_OPERATOR(LogSoftmax, "log_softmax", "activation", NPU_SOFTMAX_FIELDS(LogSoftmax));
NPU_OPERATOR(SoftmaxBackward, "softmax_backward", "activation", NPU_SOFTMAX_GRADIENT_FIELDS(SoftmaxBackward));
NPU_OPERATOR(LogSoftmaxBackward, "log_softmax_backward", "activation", NPU_SOFTMAX_GRADIENT_FIELDS(LogSoftmaxBackward));

}  // namespace
}  // namespace npu::ops
#endif
