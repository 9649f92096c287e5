// SPDX-License-Identifier: Apache-2.0
// Each step's gradients of the gates are kept, and the gradients of the weights are one product over all steps at the
// end: one sum, in the order that the engine's tiling gives it, instead of a small one a step.
#include "ops/rnn/backward.h"

#include <algorithm>
#include <utility>

#include "ops/cube/kept_right.h"
#include "ops/rnn/floats.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

Tensor one_state(const Tensor& state, int64_t cell) {
  Tensor one = state;
  one.shape[0] = 1;
  one.offset += cell * state.strides[0];
  return one;
}

}  // namespace

void read_state(const Tensor& state, int64_t cell, int64_t size, float* to) {
  // No state given is a state of zeros.
  if (!state.defined()) {
    std::fill_n(to, size, 0.0f);
    return;
  }
  const float* from = read_floats(one_state(state, cell), to);
  if (from != to) std::copy_n(from, size, to);
}

void write_state(const Tensor& state, int64_t cell, const float* from) {
  if (state.defined()) write_floats(one_state(state, cell), from);
}

const float* RecurrentBackward::state_before(const float* saved, const float* first, int64_t before, int64_t rows,
                                             float* buffer) const {
  // Packed sequences end at different steps. Walking backwards in time, one that begins with this step has no state
  // before it but the first one.
  const int64_t known = before < 0 ? 0 : running(before);
  if (known == 0) return first;
  saved += before * batch_ * hidden_;
  if (known >= rows) return saved;
  std::copy_n(saved, known * hidden_, buffer);
  std::copy_n(first + known * hidden_, (rows - known) * hidden_, buffer + known * hidden_);
  return buffer;
}

void RecurrentBackward::check_backward(int64_t gates, const Tensor& state) {
  check(gates, state);
  if (grad_y.defined()) check_sequence(grad_y, directions_ * hidden_, "grad_y");
  check_sequence(grad_input, input_, "grad_input");
  check_saved({{&h_list, "h_list"}});
  require(grad_params.size() == params.size(), "grad_params holds {} tensors, params {}", grad_params.size(),
          params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    require(grad_params[i].shape == params[i].shape, "grad_params[{}] is {}, params[{}] is {}", i, grad_params[i].shape,
            i, params[i].shape);
  }
}

// What layer `layer` read: the input, or the hidden states of the layer below side by side.
void RecurrentBackward::layer_input(int64_t layer, float* x) const {
  if (layer == 0) {
    const float* from = read_steps(steps_first(input), input_, x);
    if (from != x) std::copy_n(from, steps_ * batch_ * input_, x);
    return;
  }
  const Scratch<float> buffer(steps_ * batch_ * hidden_);
  for (int64_t d = 0; d < directions_; ++d) {
    // The layer below has kept its states, so its output needs no tensor of its own.
    const float* h = read_steps(h_list[static_cast<size_t>((layer - 1) * directions_ + d)], hidden_, buffer);
    for (int64_t r = 0; r < steps_ * batch_; ++r) {
      std::copy_n(h + r * hidden_, hidden_, x + (r * directions_ + d) * hidden_);
    }
  }
}

void RecurrentBackward::walk() {
  read_batch_sizes();
  const int64_t widest = std::max(input_, directions_ * hidden_);
  const Scratch<float> x(steps_ * batch_ * widest), first(steps_ * batch_ * widest), second(steps_ * batch_ * widest);
  // Two buffers take turns: a layer's gradient of its input is the gradient of the output of the layer below.
  float* dy = first;
  float* dx = second;
  if (grad_y.defined()) {
    const float* from = read_steps(steps_first(grad_y), directions_ * hidden_, dy);
    if (from != dy) std::copy_n(from, steps_ * batch_ * directions_ * hidden_, dy);
  } else {
    std::fill_n(dy, steps_ * batch_ * directions_ * hidden_, 0.0f);
  }
  for (int64_t layer = num_layers - 1; layer >= 0; --layer) {
    layer_input(layer, x);
    // Both directions read one input: their gradients add up.
    std::fill_n(dx, steps_ * batch_ * input_width(layer), 0.0f);
    for (int64_t d = 0; d < directions_; ++d) run_cell(layer * directions_ + d, x, dy, dx);
    std::swap(dy, dx);
  }
  write_steps(steps_first(grad_input), input_, dy);
}

void RecurrentBackward::run_cell(int64_t cell, const float* x, const float* dy, float* dx) {
  const int64_t direction = cell % directions_, width = input_width(cell / directions_), gates = gates_ * hidden_;
  const int64_t rows = steps_ * batch_, step_size = batch_ * hidden_;
  const Scratch<float> w_ih(gates * width), w_hh(gates * hidden_), dgx(rows * gates), dgh(rows * gates);
  const Scratch<float> h_buffer(rows * hidden_), h_before(rows * hidden_), dh(step_size), h0(step_size),
      both(step_size), dw(gates * std::max(width, hidden_));
  const cube::KeptRight<float> weight_hh(false, gates, hidden_, read_floats(param(cell, 1), w_hh));
  const float* h = read_steps(h_list[static_cast<size_t>(cell)], hidden_, h_buffer);
  first_state(cell, h0);
  // dh carries the gradient from step to step; what comes from outside is added where a sequence runs.
  begin(cell, dh);
  for (int64_t s = steps_ - 1; s >= 0; --s) {
    const int64_t t = time_of(s, direction), before = s == 0 ? -1 : time_of(s - 1, direction);
    const int64_t here = running(t);
    for (int64_t b = 0; b < here; ++b) {
      const float* outside = dy + ((t * batch_ + b) * directions_ + direction) * hidden_;
      for (int64_t k = 0; k < hidden_; ++k) dh[b * hidden_ + k] += outside[k];
    }
    float* const gx = dgx + t * batch_ * gates;
    float* const gh = dgh + t * batch_ * gates;
    // `step` leaves the part of dh that does not pass through the gates; the product adds the part that does.
    step(cell, t, before, here, dh, gx, gh);
    weight_hh.multiply(false, here, gh, 1, dh);
    float* const h_here = h_before + t * step_size;
    std::copy_n(state_before(h, h0, before, here, both), here * hidden_, h_here);
    // Sequences that do not run take no part in the products below.
    std::fill_n(gx + here * gates, (batch_ - here) * gates, 0.0f);
    std::fill_n(gh + here * gates, (batch_ - here) * gates, 0.0f);
    std::fill_n(h_here + here * hidden_, (batch_ - here) * hidden_, 0.0f);
  }
  end(cell, dh);
  // One product over all steps for the input too.
  add_product(false, false, rows, width, gates, dgx, read_floats(param(cell, 0), w_ih), dx);
  const auto grad = [&](int64_t which) -> const Tensor& {
    return grad_params[static_cast<size_t>(cell * (has_biases ? 4 : 2) + which)];
  };
  add_product(true, false, gates, width, rows, dgx, x, dw, 0);
  write_floats(grad(0), dw);
  add_product(true, false, gates, hidden_, rows, dgh, h_before, dw, 0);
  write_floats(grad(1), dw);
  if (!has_biases) return;
  sum_rows(dgx, rows, gates, dw);
  write_floats(grad(2), dw);
  sum_rows(dgh, rows, gates, dw);
  write_floats(grad(3), dw);
}

}  // namespace npu::ops
