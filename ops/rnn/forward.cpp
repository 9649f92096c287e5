// SPDX-License-Identifier: Apache-2.0
// The inputs of all steps are one product a cell, as no step waits for them; only the hidden half is formed step by
// step.
#include "ops/rnn/forward.h"

#include <algorithm>
#include <utility>

#include "ops/cube/kept_right.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

// y = x weight + bias, or without one.
void affine(const float* x, const cube::KeptRight<float>& weight, const float* bias, int64_t rows, int64_t n,
            float* y) {
  // The sum begins with the bias.
  for (int64_t r = 0; bias != nullptr && r < rows; ++r) std::copy_n(bias, n, y + r * n);
  weight.multiply(false, rows, x, bias != nullptr ? 1.0f : 0.0f, y);
}

}  // namespace

void RecurrentForward::walk() {
  read_batch_sizes();
  const int64_t widest = std::max(input_, directions_ * hidden_);
  // Layers write in turn into two buffers: each reads what the one below has written.
  const Scratch<float> first(steps_ * batch_ * widest), second(steps_ * batch_ * directions_ * hidden_);
  const Scratch<float> third(steps_ * batch_ * directions_ * hidden_);
  const float* x = read_steps(steps_first(input), input_, first);
  float* y = second;
  float* other = third;
  for (int64_t layer = 0; layer < num_layers; ++layer) {
    for (int64_t d = 0; d < directions_; ++d) run_cell(layer * directions_ + d, x, y);
    x = y;
    std::swap(y, other);
  }
  write_steps(steps_first(output), directions_ * hidden_, x);
}

void RecurrentForward::run_cell(int64_t cell, const float* x, float* y) {
  const int64_t layer = cell / directions_, direction = cell % directions_;
  const int64_t width = input_width(layer), gates = gates_ * hidden_;
  const Scratch<float> w_ih(gates * width), w_hh(gates * hidden_), b_ih(gates), b_hh(gates), h(batch_ * hidden_);
  const Scratch<float> gx(steps_ * batch_ * gates), gh(batch_ * gates);
  const float* bias_ih = has_biases ? read_floats(param(cell, 2), b_ih) : nullptr;
  const float* bias_hh = has_biases ? read_floats(param(cell, 3), b_hh) : nullptr;
  const cube::KeptRight<float> weight_hh(true, hidden_, gates, read_floats(param(cell, 1), w_hh));
  const cube::KeptRight<float> weight_ih(true, width, gates, read_floats(param(cell, 0), w_ih));
  affine(x, weight_ih, bias_ih, steps_ * batch_, gates, gx);
  begin(cell, h);
  for (int64_t s = 0; s < steps_; ++s) {
    // Sequences are sorted by length, so those that still run are the first rows: the others keep their last state.
    const int64_t t = time_of(s, direction);
    const int64_t rows = running(t);
    affine(h, weight_hh, bias_hh, rows, gates, gh);
    step(cell, t, rows, gx + t * batch_ * gates, gh, h);
    for (int64_t b = 0; b < batch_; ++b) {
      // Directions lie side by side in the output.
      float* to = y + ((t * batch_ + b) * directions_ + direction) * hidden_;
      if (b < rows)
        std::copy_n(h + b * hidden_, hidden_, to);
      else
        // A sequence that has ended puts out 0.
        std::fill_n(to, hidden_, 0.0f);
    }
  }
  end(cell, h);
}

void RecurrentForward::write_saved(const std::vector<Tensor>& list, int64_t cell, const float* all,
                                   int64_t last) const {
  // A client that is not going to train passes no lists.
  if (static_cast<size_t>(cell) >= list.size()) return;
  const Tensor& t = list[static_cast<size_t>(cell)];
  const int64_t step_size = batch_ * hidden_;
  // Packed tensors leave out the rows of padding; write_steps does so too.
  if (t.count() == steps_ * step_size || t.count() == rows_ * hidden_)
    write_steps(t, hidden_, all);
  else if (t.count() == step_size && last >= 0)
    write_floats(t, all + last * step_size);
}

}  // namespace npu::ops
