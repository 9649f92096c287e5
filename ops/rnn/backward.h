// SPDX-License-Identifier: Apache-2.0
// The backward walk of a recurrent network; LSTM and GRU only differ in one step.
#pragma once

#include "ops/rnn/recurrent.h"

namespace npu::ops {

struct RecurrentBackward : RecurrentOp {
  Tensor grad_y;                    ///< may be undefined: no gradient from the outputs
  std::vector<Tensor> h_list;       ///< the forward's hidden states, [T, B, H] a cell
  Tensor grad_input;                ///< like input
  std::vector<Tensor> grad_params;  ///< like params

 protected:
  void check_backward(int64_t gates, const Tensor& state);
  void walk();

  /// The first hidden state of a cell into `h` [B, H].
  virtual void first_state(int64_t cell, float* h) = 0;
  /// A cell begins (at its last step); its gradient from outside goes into `dh` [B, H].
  virtual void begin(int64_t cell, float* dh) = 0;
  /// The step at time t of the first `rows` sequences, `before` the time processed just before it (-1: none). dh holds
  /// the whole gradient of h[t] and is left with the direct part of the gradient of the state before; dgx and dgh are
  /// the gates' gradients.
  virtual void step(int64_t cell, int64_t t, int64_t before, int64_t rows, float* dh, float* dgx, float* dgh) = 0;
  /// `dh` is the gradient of the first state.
  virtual void end(int64_t cell, const float* dh) = 0;

  /// The state before a step of `rows` sequences: `saved` [T, B, H] at time `before`, or `first` where a sequence began
  /// with this step. In `buffer` [B, H] where both occur.
  const float* state_before(const float* saved, const float* first, int64_t before, int64_t rows, float* buffer) const;

 private:
  void run_cell(int64_t cell, const float* x, const float* dy, float* dx);
  void layer_input(int64_t layer, float* x) const;
};

/// State `cell` of a [cells, B, H] tensor: read (zeros when undefined) and written (ignored when undefined).
void read_state(const Tensor& state, int64_t cell, int64_t size, float* to);
void write_state(const Tensor& state, int64_t cell, const float* from);

}  // namespace npu::ops
