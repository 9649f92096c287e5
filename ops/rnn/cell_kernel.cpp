// SPDX-License-Identifier: Apache-2.0
// The element-wise half of a step: the products have been formed for the whole batch, so all gates of an element are at
// hand and everything that backward needs is written in one walk.
#include "ops/rnn/cell_kernel.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "ops/vector/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rnn/cell_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "ops/vector/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npu::ops::HWY_NAMESPACE {

void lstm_forward(const float* gx, const float* gh, int64_t first, int64_t last, int64_t hidden, const LstmStep& s,
                  float* c, float* h) {
  // gx and gh are added here and not before: gx of all steps is one product, gh is known step by step.
  for (int64_t b = first; b < last; ++b) {
    const float* x = gx + b * 4 * hidden;
    const float* y = gh + b * 4 * hidden;
    const int64_t at = b * hidden;
#pragma GCC ivdep
    for (int64_t k = 0; k < hidden; ++k) {
      const float i = sigmoid_of(x[k] + y[k]);
      const float f = sigmoid_of(x[hidden + k] + y[hidden + k]);
      const float g = tanh_of(x[2 * hidden + k] + y[2 * hidden + k]);
      const float o = sigmoid_of(x[3 * hidden + k] + y[3 * hidden + k]);
      const float next = f * c[at + k] + i * g;
      // tanh(c) is kept: backward needs it, and it is the costliest number of the step.
      const float t = tanh_of(next);
      s.i[at + k] = i;
      s.f[at + k] = f;
      s.j[at + k] = g;
      s.o[at + k] = o;
      s.tanhc[at + k] = t;
      c[at + k] = next;
      h[at + k] = o * t;
    }
  }
}

void lstm_backward(const float* dh, const LstmValues<const float>& s, const float* c_before, int64_t first,
                   int64_t last, int64_t hidden, float* dc, float* dgates) {
  for (int64_t b = first; b < last; ++b) {
    float* d = dgates + b * 4 * hidden;
    const int64_t at = b * hidden;
#pragma GCC ivdep
    for (int64_t k = 0; k < hidden; ++k) {
      const float i = s.i[at + k], f = s.f[at + k], g = s.j[at + k], o = s.o[at + k], t = s.tanhc[at + k];
      // h reaches c through tanh; what c carries to later steps comes on top.
      const float dcell = dc[at + k] + dh[at + k] * o * (1 - t * t);
      d[k] = dcell * g * i * (1 - i);
      d[hidden + k] = dcell * c_before[at + k] * f * (1 - f);
      d[2 * hidden + k] = dcell * i * (1 - g * g);
      d[3 * hidden + k] = dh[at + k] * t * o * (1 - o);
      // dc is brought to the step before in place.
      dc[at + k] = dcell * f;
    }
  }
}

void gru_forward(const float* gx, const float* gh, int64_t first, int64_t last, int64_t hidden, const GruStep& s,
                 float* h) {
  for (int64_t b = first; b < last; ++b) {
    const float* x = gx + b * 3 * hidden;
    const float* y = gh + b * 3 * hidden;
    const int64_t at = b * hidden;
#pragma GCC ivdep
    for (int64_t k = 0; k < hidden; ++k) {
      const float r = sigmoid_of(x[k] + y[k]);
      const float z = sigmoid_of(x[hidden + k] + y[hidden + k]);
      const float hn = y[2 * hidden + k];
      // torch's GRU: the reset gate acts behind the hidden product, whose new part is therefore kept by itself.
      const float n = tanh_of(x[2 * hidden + k] + r * hn);
      s.r[at + k] = r;
      s.z[at + k] = z;
      s.n[at + k] = n;
      s.hn[at + k] = hn;
      // (1 - z) · n + z · h with one product: h is read before it is overwritten.
      h[at + k] = n + z * (h[at + k] - n);
    }
  }
}

void gru_backward(const GruStep& s, const float* h_before, int64_t first, int64_t last, int64_t hidden, float* dh,
                  float* dgx, float* dgh) {
  for (int64_t b = first; b < last; ++b) {
    float* dx = dgx + b * 3 * hidden;
    float* dy = dgh + b * 3 * hidden;
    const int64_t at = b * hidden;
#pragma GCC ivdep
    for (int64_t k = 0; k < hidden; ++k) {
      const float r = s.r[at + k], z = s.z[at + k], n = s.n[at + k];
      const float g = dh[at + k];
      const float dn = g * (1 - z) * (1 - n * n);
      const float dr = dn * s.hn[at + k] * r * (1 - r);
      const float dz = g * (h_before[at + k] - n) * z * (1 - z);
      // r and z are sums of both halves, so their gradients are equal; the new gate's hidden half passes through r.
      dx[k] = dy[k] = dr;
      dx[hidden + k] = dy[hidden + k] = dz;
      dx[2 * hidden + k] = dn;
      dy[2 * hidden + k] = dn * r;
      // What reaches the state before directly; the part through the gates is a product of the caller's.
      dh[at + k] = g * z;
    }
  }
}

}  // namespace npu::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npu::ops {

HWY_EXPORT(lstm_forward);
HWY_EXPORT(lstm_backward);
HWY_EXPORT(gru_forward);
HWY_EXPORT(gru_backward);

namespace {
// Rows of a batch are independent; a part has a few microseconds of work.
template <class F>
void rows_in_parts(int64_t batch, int64_t hidden, F&& rows) {
  parallel_for(batch, std::max<int64_t>(1, 2048 / std::max<int64_t>(1, hidden)), rows);
}
}  // namespace

void lstm_cell(const float* gx, const float* gh, int64_t batch, int64_t hidden, const LstmStep& saved, float* c,
               float* h) {
  rows_in_parts(batch, hidden, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(lstm_forward)(gx, gh, first, last, hidden, saved, c, h);
  });
}
void lstm_cell_grad(const float* dh, const LstmValues<const float>& saved, const float* c_before, int64_t batch,
                    int64_t hidden, float* dc, float* dgates) {
  rows_in_parts(batch, hidden, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(lstm_backward)(dh, saved, c_before, first, last, hidden, dc, dgates);
  });
}
void gru_cell(const float* gx, const float* gh, int64_t batch, int64_t hidden, const GruStep& saved, float* h) {
  rows_in_parts(batch, hidden, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(gru_forward)(gx, gh, first, last, hidden, saved, h);
  });
}
void gru_cell_grad(const GruStep& saved, const float* h_before, int64_t batch, int64_t hidden, float* dh, float* dgx,
                   float* dgh) {
  rows_in_parts(batch, hidden, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(gru_backward)(saved, h_before, first, last, hidden, dh, dgx, dgh);
  });
}

}  // namespace npu::ops
#endif
