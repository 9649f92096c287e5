// SPDX-License-Identifier: Apache-2.0
// One step of an LSTM backwards; backward.h walks. What forward kept is read in place where it is float32.
#include <algorithm>

#include "ops/rnn/backward.h"
#include "ops/rnn/cell_kernel.h"

namespace npu::ops {
namespace {

struct LstmGrad final : RecurrentBackward {
  std::vector<Tensor> hx;
  Tensor grad_hy, grad_cy;
  std::vector<Tensor> i_list, j_list, f_list, o_list, c_list, tanhc_list;
  Tensor grad_h, grad_c;

  void prepare() override;
  void run() override { walk(); }

 private:
  void first_state(int64_t cell, float* h) override { read_state(hx.empty() ? Tensor() : hx[0], cell, step_size(), h); }
  void begin(int64_t cell, float* dh) override;
  void step(int64_t cell, int64_t t, int64_t before, int64_t rows, float* dh, float* dgx, float* dgh) override;
  void end(int64_t cell, const float* dh) override;
  int64_t step_size() const { return batch_ * hidden_; }

  enum Saved { kI, kJ, kF, kO, kTanhC, kC, kSavedCount };
  std::vector<float> buffer_[kSavedCount];
  const float* saved_[kSavedCount] = {};
  std::vector<float> dc_, c0_, both_;
};

void LstmGrad::prepare() {
  // Without an initial state its gradient, if it is wanted, tells the batch of packed sequences.
  check_backward(4, grad_h.defined() || hx.empty() ? grad_h : hx[0]);
  require(hx.empty() || hx.size() == 2, "hx holds {} tensors; pass h0 and c0, or none for zeros", hx.size());
  for (const Tensor& t : hx) check_state(t, "hx");
  check_state(grad_hy, "grad_hy");
  check_state(grad_cy, "grad_cy");
  check_state(grad_h, "grad_h");
  check_state(grad_c, "grad_c");
  check_saved({{&i_list, "i_list"},
               {&j_list, "j_list"},
               {&f_list, "f_list"},
               {&o_list, "o_list"},
               {&c_list, "c_list"},
               {&tanhc_list, "tanhc_list"}});
}

void LstmGrad::begin(int64_t cell, float* dh) {
  const std::vector<Tensor>* lists[kSavedCount] = {&i_list, &j_list, &f_list, &o_list, &tanhc_list, &c_list};
  for (int k = 0; k < kSavedCount; ++k) {
    buffer_[k].resize(static_cast<size_t>(steps_ * step_size()));
    saved_[k] = read_steps((*lists[k])[static_cast<size_t>(cell)], hidden_, buffer_[k].data());
  }
  dc_.resize(static_cast<size_t>(step_size()));
  c0_.resize(static_cast<size_t>(step_size()));
  both_.resize(static_cast<size_t>(step_size()));
  // Gradients of the last states are where dh and dc begin; dc stays between the steps.
  read_state(grad_hy, cell, step_size(), dh);
  read_state(grad_cy, cell, step_size(), dc_.data());
  read_state(hx.empty() ? Tensor() : hx[1], cell, step_size(), c0_.data());
}

void LstmGrad::step(int64_t, int64_t t, int64_t before, int64_t rows, float* dh, float* dgx, float* dgh) {
  const auto at = [&](Saved which) { return saved_[which] + t * step_size(); };
  const float* c_before = state_before(saved_[kC], c0_.data(), before, rows, both_.data());
  lstm_cell_grad(dh, {at(kI), at(kJ), at(kF), at(kO), at(kTanhC)}, c_before, rows, hidden_, dc_.data(), dgx);
  // Both halves of the gates are added before activation, so their gradients are equal.
  std::copy_n(dgx, 4 * rows * hidden_, dgh);
  std::fill_n(dh, rows * hidden_, 0.0f);  // h acts on the state before only through the gates
}

void LstmGrad::end(int64_t cell, const float* dh) {
  write_state(grad_h, cell, dh);
  write_state(grad_c, cell, dc_.data());
}

const Registration register_lstm_grad(
    "lstm_grad", "rnn",
    recurrent_fields<LstmGrad>({optional<&LstmGrad::hx>("hx"), optional<&LstmGrad::grad_y>("grad_y"),
                                optional<&LstmGrad::grad_hy>("grad_hy"), optional<&LstmGrad::grad_cy>("grad_cy"),
                                in<&LstmGrad::i_list>("i_list"), in<&LstmGrad::j_list>("j_list"),
                                in<&LstmGrad::f_list>("f_list"), in<&LstmGrad::o_list>("o_list"),
                                in<&LstmGrad::h_list>("h_list"), in<&LstmGrad::c_list>("c_list"),
                                in<&LstmGrad::tanhc_list>("tanhc_list"), out<&LstmGrad::grad_input>("grad_input"),
                                optional_out<&LstmGrad::grad_h>("grad_h"), optional_out<&LstmGrad::grad_c>("grad_c"),
                                out<&LstmGrad::grad_params>("grad_params")}),
    &make<LstmGrad>);

}  // namespace
}  // namespace npu::ops
