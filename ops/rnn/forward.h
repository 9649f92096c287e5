// SPDX-License-Identifier: Apache-2.0
// The forward walk of a recurrent network; LSTM and GRU only differ in one step.
#pragma once

#include "ops/rnn/recurrent.h"

namespace npu::ops {

struct RecurrentForward : RecurrentOp {
  Tensor output;  ///< [T, B, directions * H] or batch first

 protected:
  void walk();

  /// A cell begins: its state of the step before the first goes into `h` [B, H] (zeros without hx).
  virtual void begin(int64_t cell, float* h) = 0;
  /// One step at time t: gates from the input and from the hidden state; brings the first `rows` of `h` to this step.
  virtual void step(int64_t cell, int64_t t, int64_t rows, const float* gx, const float* gh, float* h) = 0;
  /// The cell is through; `h` is its last state.
  virtual void end(int64_t cell, const float* h) = 0;

  /// A saved [T, B, H] value of one cell, collected step by step and written at the end; also one [B, H] tensor, for
  /// clients that keep only the last step.
  void write_saved(const std::vector<Tensor>& list, int64_t cell, const float* all, int64_t last) const;

 private:
  void run_cell(int64_t cell, const float* x, float* y);
};

}  // namespace npu::ops
