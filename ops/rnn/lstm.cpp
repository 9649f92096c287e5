// SPDX-License-Identifier: Apache-2.0
// lstm: all layers, directions and steps in one call; with `train` it keeps what backward needs.
#include <algorithm>

#include "ops/rnn/backward.h"
#include "ops/rnn/cell_kernel.h"
#include "ops/rnn/forward.h"

namespace npu::ops {
namespace {

struct Lstm final : RecurrentForward {
  std::vector<Tensor> hx;  // h0 and c0, or empty for zeros
  Tensor h_n, c_n;
  std::vector<Tensor> i_list, j_list, f_list, o_list, h_list, c_list, tanhc_list;

  void prepare() override;
  void run() override { walk(); }

 private:
  void begin(int64_t cell, float* h) override;
  void step(int64_t cell, int64_t t, int64_t rows, const float* gx, const float* gh, float* h) override;
  void end(int64_t cell, const float* h) override;
  int64_t step_size() const { return batch_ * hidden_; }

  // Kept by step and written when the cell is through: a tensor of the client's may be of halves or packed.
  enum Saved { kI, kJ, kF, kO, kH, kC, kTanhC, kSavedCount };
  std::vector<float> saved_[kSavedCount];  // [T, B, H]
  std::vector<float> c_;
  int64_t last_ = -1;
};

void Lstm::prepare() {
  check(4, h_n);
  require(hx.empty() || hx.size() == 2, "hx holds {} tensors; pass h0 and c0, or none for zeros", hx.size());
  for (const Tensor& t : hx) check_state(t, "hx");
  check_state(h_n, "h_n");
  check_state(c_n, "c_n");
  check_sequence(output, directions_ * hidden_, "output");
  if (!train) return;
  check_saved({{&i_list, "i_list"},
               {&j_list, "j_list"},
               {&f_list, "f_list"},
               {&o_list, "o_list"},
               {&h_list, "h_list"},
               {&c_list, "c_list"},
               {&tanhc_list, "tanhc_list"}});
}

void Lstm::begin(int64_t cell, float* h) {
  // Zeros, as the kernel writes only the rows of sequences that run.
  for (auto& values : saved_) values.assign(static_cast<size_t>(steps_ * step_size()), 0.0f);
  c_.resize(static_cast<size_t>(step_size()));
  read_state(hx.empty() ? Tensor() : hx[0], cell, step_size(), h);
  read_state(hx.empty() ? Tensor() : hx[1], cell, step_size(), c_.data());
  last_ = -1;
}

void Lstm::step(int64_t, int64_t t, int64_t rows, const float* gx, const float* gh, float* h) {
  const int64_t at = t * step_size();
  const LstmStep step{saved_[kI].data() + at, saved_[kJ].data() + at, saved_[kF].data() + at, saved_[kO].data() + at,
                      saved_[kTanhC].data() + at};
  lstm_cell(gx, gh, rows, hidden_, step, c_.data(), h);
  std::copy_n(h, step_size(), saved_[kH].data() + at);
  std::copy_n(c_.data(), step_size(), saved_[kC].data() + at);
  // The step processed last, which backwards in time is step 0: clients that keep one step get this one.
  last_ = t;
}

void Lstm::end(int64_t cell, const float* h) {
  write_state(h_n, cell, h);
  write_state(c_n, cell, c_.data());
  const std::vector<Tensor>* lists[kSavedCount] = {&i_list, &j_list, &f_list, &o_list, &h_list, &c_list, &tanhc_list};
  for (int k = 0; k < kSavedCount; ++k) write_saved(*lists[k], cell, saved_[k].data(), last_);
}

const Registration register_lstm(
    "lstm", "rnn",
    recurrent_fields<Lstm>({optional<&Lstm::hx>("hx"), out<&Lstm::output>("output"), out<&Lstm::h_n>("h_n"),
                            out<&Lstm::c_n>("c_n"), optional_out<&Lstm::i_list>("i_list"),
                            optional_out<&Lstm::j_list>("j_list"), optional_out<&Lstm::f_list>("f_list"),
                            optional_out<&Lstm::o_list>("o_list"), optional_out<&Lstm::h_list>("h_list"),
                            optional_out<&Lstm::c_list>("c_list"), optional_out<&Lstm::tanhc_list>("tanhc_list")}),
    &make<Lstm>);

}  // namespace
}  // namespace npu::ops
