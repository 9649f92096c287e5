// SPDX-License-Identifier: Apache-2.0
// One layer of a GRU in one direction over the steps of [T, B, I], with weights as [I, 3H] and [H, 3H] in torch's gate
// order and the reset gate behind the hidden product, and its gradient: what clients of the single-operator interface
// run a GRU with.
#include <algorithm>
#include <vector>

#include "ops/cube/kept_right.h"
#include "ops/operator.h"
#include "ops/rnn/cell_kernel.h"
#include "ops/rnn/floats.h"

namespace npu::ops {
namespace {

struct GruLayer : Operator {
  Tensor x, w_input, w_hidden, h0, seq_length;

 protected:
  void check() {
    // A scalar stands for none given: all sequences run to the end.
    require(!seq_length.defined() || seq_length.rank() == 0,
            "seq_length is {}: packed sequences are not supported; pad them, and mask the result", seq_length);
    for (const Tensor* t : {&x, &w_input, &w_hidden, &h0})
      require(is_floating(t->dtype) && t->dtype != DType::kDouble,
              "one of x, weight_input, weight_hidden, init_h is {}; all must be float32, float16 or bfloat16", *t);
    require(w_input.rank() == 2 && w_hidden.rank() == 2 && w_hidden.shape[1] == 3 * w_hidden.shape[0] &&
                w_input.shape[1] == w_hidden.shape[1],
            "weight_input is {}, weight_hidden is {}; they must be [inputs, 3 hidden] and [hidden, 3 hidden]", w_input,
            w_hidden);
    inputs_ = w_input.shape[0], hidden_ = w_hidden.shape[0];
    require(x.rank() == 3 && x.shape[2] == inputs_, "x is {}; it must be [steps, batch, {}]", x, inputs_);
    steps_ = x.shape[0], batch_ = x.shape[1];
    require(h0.count() == batch_ * hidden_ && h0.rank() >= 2 && h0.shape.back() == hidden_,
            "init_h is {}; it must hold {}x{}", h0, batch_, hidden_);
  }
  void check_state(const Tensor& t, const char* name, int64_t steps) const {
    require(t.count() == steps * batch_ * hidden_, "{} is {}; it must hold {} steps of {}x{}", name, t, steps, batch_,
            hidden_);
  }
  void check_bias(const Tensor& t, const char* name) const {
    require(!t.defined() || t.count() == 3 * hidden_, "{} is {}; it must hold {} numbers", name, t, 3 * hidden_);
  }
  int64_t state() const { return batch_ * hidden_; }
  int64_t gates() const { return batch_ * 3 * hidden_; }
  Floats zeros(int64_t count) const { return Floats(static_cast<size_t>(count)); }
  int64_t inputs_ = 0, hidden_ = 0, batch_ = 0, steps_ = 0;
};

struct DynamicGru final : GruLayer {
  Tensor b_input, b_hidden, y, h, update, reset, candidate, hidden_candidate;

  void prepare() override {
    check();
    check_bias(b_input, "bias_input"), check_bias(b_hidden, "bias_hidden");
    const Tensor* results[] = {&y, &h, &update, &reset, &candidate, &hidden_candidate};
    const char* names[] = {"y", "output_h", "update", "reset", "new", "hidden_new"};
    for (size_t k = 0; k < 6; ++k) check_state(*results[k], names[k], steps_);
  }
  void run() override;
  int64_t cost() const override { return 1000 + steps_ * batch_ * hidden_ * (inputs_ + hidden_); }

 private:
  /// `rows` rows of a bias, or of zeros.
  Floats biased(const Tensor& bias, int64_t rows) const {
    // The bias is where the sums begin, so it needs no pass of its own.
    Floats out = zeros(rows * 3 * hidden_);
    if (!bias.defined()) return out;
    const Floats b = read_floats(bias);
    for (int64_t row = 0; row < rows; ++row) std::copy(b.begin(), b.end(), out.begin() + row * 3 * hidden_);
    return out;
  }
};

void DynamicGru::run() {
  const Floats wh = read_floats(w_hidden);
  Floats gx = biased(b_input, steps_ * batch_), now = read_floats(h0);
  // All steps' inputs are one product; only the hidden half waits for the step before it.
  add_product(false, false, steps_ * batch_, 3 * hidden_, inputs_, read_floats(x).data(), read_floats(w_input).data(),
              gx.data());
  const cube::KeptRight<float> hidden(false, hidden_, 3 * hidden_, wh.data());
  Floats r = zeros(steps_ * state()), z = r, n = r, hn = r, states = r;
  for (int64_t t = 0; t < steps_; ++t) {
    Floats gh = biased(b_hidden, batch_);
    hidden.multiply(false, batch_, now.data(), 1, gh.data());
    const int64_t at = t * state();
    gru_cell(gx.data() + t * gates(), gh.data(), batch_, hidden_,
             {r.data() + at, z.data() + at, n.data() + at, hn.data() + at}, now.data());
    // States of all steps are the output, and what backward begins its steps with.
    std::copy(now.begin(), now.end(), states.begin() + at);
  }
  write_floats(y, states), write_floats(h, states);
  write_floats(update, z), write_floats(reset, r), write_floats(candidate, n), write_floats(hidden_candidate, hn);
}

struct DynamicGruGrad final : GruLayer {
  Tensor h, grad_y, grad_h, update, reset, candidate, hidden_candidate;
  Tensor grad_w_input, grad_w_hidden, grad_b_input, grad_b_hidden, grad_x, grad_h0;

  void prepare() override {
    check();
    const Tensor* saved[] = {&h, &grad_y, &update, &reset, &candidate, &hidden_candidate};
    const char* names[] = {"output_h", "dy", "update", "reset", "new", "hidden_new"};
    for (size_t k = 0; k < 6; ++k) check_state(*saved[k], names[k], steps_);
    check_state(grad_h, "dh", 1), check_state(grad_h0, "dh_prev", 1);
    check_bias(grad_b_input, "db_input"), check_bias(grad_b_hidden, "db_hidden");
    require(grad_w_input.shape == w_input.shape && grad_w_hidden.shape == w_hidden.shape && grad_x.shape == x.shape,
            "gradients are {}, {}, {}; the tensors are {}, {}, {}", grad_w_input, grad_w_hidden, grad_x, w_input,
            w_hidden, x);
  }
  void run() override;
  int64_t cost() const override { return 1000 + 3 * steps_ * batch_ * hidden_ * (inputs_ + hidden_); }
};

void DynamicGruGrad::run() {
  const int64_t wide = 3 * hidden_, rows = steps_ * batch_;
  const Floats wh = read_floats(w_hidden), dy = read_floats(grad_y), states = read_floats(h);
  Floats before = read_floats(h0);  // the hidden state every step began with
  before.insert(before.end(), states.begin(), states.end() - state());
  Floats r = read_floats(reset), z = read_floats(update), n = read_floats(candidate),
         hn = read_floats(hidden_candidate);
  Floats dh = read_floats(grad_h), dgx = zeros(rows * wide), dgh = dgx;
  const cube::KeptRight<float> hidden(true, wide, hidden_, wh.data());
  // From the last step to the first; dh carries what later steps say about this one's state.
  for (int64_t t = steps_; t-- > 0;) {
    const int64_t at = t * state();
    for (int64_t k = 0; k < state(); ++k) dh[static_cast<size_t>(k)] += dy[static_cast<size_t>(at + k)];
    gru_cell_grad({r.data() + at, z.data() + at, n.data() + at, hn.data() + at}, before.data() + at, batch_, hidden_,
                  dh.data(), dgx.data() + t * gates(), dgh.data() + t * gates());
    hidden.multiply(false, batch_, dgh.data() + t * gates(), 1, dh.data());
  }
  // Gradients of the weights are one product over all steps.
  Floats dx = zeros(x.count()), dwi = zeros(inputs_ * wide), dwh = zeros(hidden_ * wide);
  add_product(false, true, rows, inputs_, wide, dgx.data(), read_floats(w_input).data(), dx.data());
  add_product(true, false, inputs_, wide, rows, read_floats(x).data(), dgx.data(), dwi.data());
  add_product(true, false, hidden_, wide, rows, before.data(), dgh.data(), dwh.data());
  write_floats(grad_x, dx), write_floats(grad_w_input, dwi), write_floats(grad_w_hidden, dwh),
      write_floats(grad_h0, dh);
  Floats sums = zeros(wide);
  sum_rows(dgx.data(), rows, wide, sums.data());
  write_floats(grad_b_input, sums);
  sum_rows(dgh.data(), rows, wide, sums.data());
  write_floats(grad_b_hidden, sums);
}

NPU_OPERATOR(DynamicGru, "dynamic_gru", "rnn", in<&DynamicGru::x>("x"), in<&DynamicGru::w_input>("weight_input"),
             in<&DynamicGru::w_hidden>("weight_hidden"), optional<&DynamicGru::b_input>("bias_input"),
             optional<&DynamicGru::b_hidden>("bias_hidden"), optional<&DynamicGru::seq_length>("seq_length"),
             in<&DynamicGru::h0>("init_h"), out<&DynamicGru::y>("y"), out<&DynamicGru::h>("output_h"),
             out<&DynamicGru::update>("update"), out<&DynamicGru::reset>("reset"), out<&DynamicGru::candidate>("new"),
             out<&DynamicGru::hidden_candidate>("hidden_new"));
NPU_OPERATOR(DynamicGruGrad, "dynamic_gru_grad", "rnn", in<&DynamicGruGrad::x>("x"),
             in<&DynamicGruGrad::w_input>("weight_input"), in<&DynamicGruGrad::w_hidden>("weight_hidden"),
             optional<&DynamicGruGrad::seq_length>("seq_length"), in<&DynamicGruGrad::h0>("init_h"),
             in<&DynamicGruGrad::h>("h"), in<&DynamicGruGrad::grad_y>("dy"), in<&DynamicGruGrad::grad_h>("dh"),
             in<&DynamicGruGrad::update>("update"), in<&DynamicGruGrad::reset>("reset"),
             in<&DynamicGruGrad::candidate>("new"), in<&DynamicGruGrad::hidden_candidate>("hidden_new"),
             out<&DynamicGruGrad::grad_w_input>("dw_input"), out<&DynamicGruGrad::grad_w_hidden>("dw_hidden"),
             out<&DynamicGruGrad::grad_b_input>("db_input"), out<&DynamicGruGrad::grad_b_hidden>("db_hidden"),
             out<&DynamicGruGrad::grad_x>("dx"), out<&DynamicGruGrad::grad_h0>("dh_prev"));

}  // namespace
}  // namespace npu::ops
