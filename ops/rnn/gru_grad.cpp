// SPDX-License-Identifier: Apache-2.0
// One step of a GRU backwards; backward.h walks. What forward kept is read in place where it is float32.
#include "ops/rnn/backward.h"
#include "ops/rnn/cell_kernel.h"

namespace npu::ops {
namespace {

struct GruGrad final : RecurrentBackward {
  Tensor hx, grad_hy;
  std::vector<Tensor> r_list, z_list, n_list, hn_list;
  Tensor grad_h;

  void prepare() override;
  void run() override { walk(); }

 private:
  void first_state(int64_t cell, float* h) override { read_state(hx, cell, step_size(), h); }
  void begin(int64_t cell, float* dh) override;
  void step(int64_t cell, int64_t t, int64_t before, int64_t rows, float* dh, float* dgx, float* dgh) override;
  void end(int64_t cell, const float* dh) override { write_state(grad_h, cell, dh); }
  int64_t step_size() const { return batch_ * hidden_; }

  enum Saved { kR, kZ, kN, kHn, kH, kSavedCount };
  std::vector<float> buffer_[kSavedCount];
  const float* saved_[kSavedCount] = {};
  std::vector<float> h0_, both_;
};

void GruGrad::prepare() {
  // Without an initial state its gradient, if it is wanted, tells the batch of packed sequences.
  check_backward(3, grad_h.defined() ? grad_h : hx);
  check_state(hx, "hx");
  check_state(grad_hy, "grad_hy");
  check_state(grad_h, "grad_h");
  check_saved({{&r_list, "r_list"}, {&z_list, "z_list"}, {&n_list, "n_list"}, {&hn_list, "hn_list"}});
}

void GruGrad::begin(int64_t cell, float* dh) {
  const std::vector<Tensor>* lists[kSavedCount] = {&r_list, &z_list, &n_list, &hn_list, &h_list};
  for (int k = 0; k < kSavedCount; ++k) {
    buffer_[k].resize(static_cast<size_t>(steps_ * step_size()));
    saved_[k] = read_steps((*lists[k])[static_cast<size_t>(cell)], hidden_, buffer_[k].data());
  }
  h0_.resize(static_cast<size_t>(step_size()));
  both_.resize(static_cast<size_t>(step_size()));
  read_state(hx, cell, step_size(), h0_.data());
  // The gradient of the last state is where dh begins.
  read_state(grad_hy, cell, step_size(), dh);
}

void GruGrad::step(int64_t, int64_t t, int64_t before, int64_t rows, float* dh, float* dgx, float* dgh) {
  // The kernel's struct serves writing too; it reads here.
  const auto at = [&](Saved which) { return const_cast<float*>(saved_[which]) + t * step_size(); };
  const float* h_before = state_before(saved_[kH], h0_.data(), before, rows, both_.data());
  gru_cell_grad({at(kR), at(kZ), at(kN), at(kHn)}, h_before, rows, hidden_, dh, dgx, dgh);
}

const Registration register_gru_grad(
    "gru_grad", "rnn",
    recurrent_fields<GruGrad>({optional<&GruGrad::hx>("hx"), optional<&GruGrad::grad_y>("grad_y"),
                               optional<&GruGrad::grad_hy>("grad_hy"), in<&GruGrad::r_list>("r_list"),
                               in<&GruGrad::z_list>("z_list"), in<&GruGrad::n_list>("n_list"),
                               in<&GruGrad::hn_list>("hn_list"), in<&GruGrad::h_list>("h_list"),
                               out<&GruGrad::grad_input>("grad_input"), optional_out<&GruGrad::grad_h>("grad_h"),
                               out<&GruGrad::grad_params>("grad_params")}),
    &make<GruGrad>);

}  // namespace
}  // namespace npu::ops
