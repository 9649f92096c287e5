// SPDX-License-Identifier: Apache-2.0
// gru: all layers, directions and steps in one call; with `train` it keeps what backward needs.
#include <algorithm>

#include "ops/rnn/backward.h"
#include "ops/rnn/cell_kernel.h"
#include "ops/rnn/forward.h"

namespace npu::ops {
namespace {

struct Gru final : RecurrentForward {
  Tensor hx;
  Tensor h_n;
  std::vector<Tensor> r_list, z_list, n_list, hn_list, h_list;

  void prepare() override;
  void run() override { walk(); }

 private:
  void begin(int64_t cell, float* h) override;
  void step(int64_t cell, int64_t t, int64_t rows, const float* gx, const float* gh, float* h) override;
  void end(int64_t cell, const float* h) override;
  int64_t step_size() const { return batch_ * hidden_; }

  /// Kept by step and written when the cell is through: a tensor of the client's may be of halves or packed.
  enum Saved { kR, kZ, kN, kHn, kH, kSavedCount };
  std::vector<float> saved_[kSavedCount];
};

void Gru::prepare() {
  check(3, h_n);
  check_state(hx, "hx");
  check_state(h_n, "h_n");
  check_sequence(output, directions_ * hidden_, "output");
  if (!train) return;
  check_saved(
      {{&r_list, "r_list"}, {&z_list, "z_list"}, {&n_list, "n_list"}, {&hn_list, "hn_list"}, {&h_list, "h_list"}});
}

void Gru::begin(int64_t cell, float* h) {
  // Zeros, as the kernel writes only the rows of sequences that run.
  for (auto& values : saved_) values.assign(static_cast<size_t>(steps_ * step_size()), 0.0f);
  read_state(hx, cell, step_size(), h);
}

void Gru::step(int64_t, int64_t t, int64_t rows, const float* gx, const float* gh, float* h) {
  const int64_t at = t * step_size();
  gru_cell(gx, gh, rows, hidden_,
           {saved_[kR].data() + at, saved_[kZ].data() + at, saved_[kN].data() + at, saved_[kHn].data() + at}, h);
  // The whole batch: sequences that have ended keep their last state.
  std::copy_n(h, step_size(), saved_[kH].data() + at);
}

void Gru::end(int64_t cell, const float* h) {
  write_state(h_n, cell, h);
  const std::vector<Tensor>* lists[kSavedCount] = {&r_list, &z_list, &n_list, &hn_list, &h_list};
  for (int k = 0; k < kSavedCount; ++k) write_saved(*lists[k], cell, saved_[k].data(), -1);
}

const Registration register_gru(
    "gru", "rnn",
    recurrent_fields<Gru>({optional<&Gru::hx>("hx"), out<&Gru::output>("output"), out<&Gru::h_n>("h_n"),
                           optional_out<&Gru::r_list>("r_list"), optional_out<&Gru::z_list>("z_list"),
                           optional_out<&Gru::n_list>("n_list"), optional_out<&Gru::hn_list>("hn_list"),
                           optional_out<&Gru::h_list>("h_list")}),
    &make<Gru>);

}  // namespace
}  // namespace npu::ops
