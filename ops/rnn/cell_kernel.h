// SPDX-License-Identifier: Apache-2.0
// One step of a recurrent cell on a batch: vector kernels, on the thread pool where the batch is worth it. Matrices are
// row-major [B, H], gates [B, G*H] in torch's order (LSTM: i, f, g, o; GRU: r, z, n).
#pragma once

#include <cstdint>

namespace npu::ops {

/// Values of one step of an LSTM that backward needs, [B, H] each; j is torch's g.
template <class Float>
struct LstmValues {
  Float *i, *j, *f, *o, *tanhc;
};
using LstmStep = LstmValues<float>;
/// gx + gh are the gates before activation. `c` is brought from the last step to this one, `h` is written.
void lstm_cell(const float* gx, const float* gh, int64_t batch, int64_t hidden, const LstmStep& saved, float* c,
               float* h);
/// dh: gradient of h; dc: gradient of c, brought from this step to the one before. Writes the gates' gradient.
void lstm_cell_grad(const float* dh, const LstmValues<const float>& saved, const float* c_before, int64_t batch,
                    int64_t hidden, float* dc, float* dgates);

/// Values of one step of a GRU; hn is the hidden part of the new gate.
struct GruStep {
  float *r, *z, *n, *hn;
};
void gru_cell(const float* gx, const float* gh, int64_t batch, int64_t hidden, const GruStep& saved, float* h);
/// dh becomes the direct part of the gradient of the state before; dgx and dgh are the gates' gradients.
void gru_cell_grad(const GruStep& saved, const float* h_before, int64_t batch, int64_t hidden, float* dh, float* dgx,
                   float* dgh);

}  // namespace npu::ops
