// SPDX-License-Identifier: Apache-2.0
// One layer of an LSTM in one direction over the steps of [T, B, I], with weights as [I, 4H] and [H, 4H] in torch's
// gate order, and its gradient: what clients of the single-operator interface run an LSTM cell with (T = 1). A sequence
// that ended, or has not begun, keeps its state and puts out 0.
// Steps that do not run are computed like the others and replaced afterwards: the batch stays one product.
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "ops/cube/kept_right.h"
#include "ops/cube/panels.h"
#include "ops/operator.h"
#include "ops/rnn/cell_kernel.h"
#include "ops/rnn/floats.h"

namespace npu::ops {
namespace {

// The first `inputs` rows of a joined weight, and the rest.
void split(const Tensor& joined, int64_t inputs, Tensor& first, Tensor& second) {
  // Views: the gradient of a joined weight is written in its two halves.
  first = joined.view({inputs, joined.shape[1]}, joined.strides);
  second = joined.view({joined.shape[0] - inputs, joined.shape[1]}, joined.strides);
  second.offset += inputs * joined.strides[0];
}

struct Layer : Operator {
  Tensor x, w, w_ih, w_hh, h0, c0;  ///< either w, or w_ih and w_hh
  Tensor seq_length;                ///< how long each sequence is [B], or where it runs [T, B, H]; 0-dim: not given
  std::string direction = "UNIDIRECTIONAL";

 protected:
  void check() {
    require(direction == "UNIDIRECTIONAL" || direction == "REDIRECTIONAL",
            "direction is {}; a call computes UNIDIRECTIONAL, or REDIRECTIONAL from the last step to the first",
            direction);
    reverse_ = direction == "REDIRECTIONAL";
    if (w.defined()) {
      require(w.rank() == 2 && x.rank() >= 2 && x.shape.back() <= w.shape[0],
              "w is {}, x is {}; w must be [{} + hidden, 4 hidden]", w, x, x.rank() == 0 ? 0 : x.shape.back());
      split(w, x.shape.back(), w_ih, w_hh);
    }
    require(w_ih.defined() && w_hh.defined(), "a weight is missing: give w, or both w_ih and w_hh");
    for (const Tensor* t : {&x, &w_ih, &w_hh, &h0, &c0}) {
      require(is_floating(t->dtype) && t->dtype != DType::kDouble,
              "one of x, w_ih, w_hh, h, c is {}; all must be float32, float16 or bfloat16", *t);
    }
    require(
        w_ih.rank() == 2 && w_hh.rank() == 2 && w_hh.shape[1] == 4 * w_hh.shape[0] && w_ih.shape[1] == w_hh.shape[1],
        "w_ih is {}, w_hh is {}; they must be [inputs, 4 hidden] and [hidden, 4 hidden]. A projection (proj_size) is "
        "not "
        "among the inputs; leave it out and put nn.Linear behind the layer",
        w_ih, w_hh);
    inputs_ = w_ih.shape[0], hidden_ = w_hh.shape[0];
    require(h0.shape == c0.shape && h0.rank() >= 2 && h0.shape.back() == hidden_,
            "h is {}, c is {}; the weights have {}", h0, c0, hidden_);
    batch_ = h0.shape[h0.rank() - 2];
    require(
        h0.count() == batch_ * hidden_ && x.rank() >= 2 && x.shape.back() == inputs_ && x.shape[x.rank() - 2] == batch_,
        "x is {}, h is {}; x must be [steps, {}, {}]", x, h0, batch_, inputs_);
    steps_ = x.rank() == 2 ? 1 : x.shape[0];
    require(!masked() || seq_length.shape == Dims{batch_} || seq_length.shape == Dims{steps_, batch_, hidden_},
            "seq_length is {}; it must be the {} lengths, or {}x{}x{} with 1 where a sequence runs", seq_length, batch_,
            steps_, batch_, hidden_);
  }
  bool masked() const { return seq_length.defined() && seq_length.rank() > 0; }
  /// Where each sequence runs, [T, B].
  std::vector<bool> read_mask() const {
    std::vector<bool> runs(static_cast<size_t>(steps_ * batch_), true);
    if (!masked()) return runs;
    const Floats given = read_floats(seq_length);
    // A mask of [T, B, H] says the same in each of its H columns.
    for (int64_t at = 0; at < steps_ * batch_; ++at)
      runs[static_cast<size_t>(at)] = seq_length.rank() == 1
                                          ? static_cast<float>(at / batch_) < given[static_cast<size_t>(at % batch_)]
                                          : given[static_cast<size_t>(at * hidden_)] != 0;
    return runs;
  }
  /// The step processed as number `s`, and the one before it (-1: none).
  int64_t time_of(int64_t s) const { return reverse_ ? steps_ - 1 - s : s; }
  int64_t before(int64_t s) const { return s == 0 ? -1 : time_of(s - 1); }
  /// Rows of `to` [B, width] where no sequence runs at time t become those of `from`, or 0.
  void keep_rows(const std::vector<bool>& runs, int64_t t, int64_t width, const float* from, float* to) const {
    for (int64_t b = 0; b < batch_; ++b) {
      if (runs[static_cast<size_t>(t * batch_ + b)]) continue;
      if (from != nullptr)
        std::copy_n(from + b * width, width, to + b * width);
      else
        std::fill_n(to + b * width, width, 0.0f);
    }
  }
  void check_state(const Tensor& t, const char* name, int64_t steps) const {
    require(t.count() == steps * batch_ * hidden_, "{} is {}; it must hold {} steps of {}x{}", name, t, steps, batch_,
            hidden_);
  }
  int64_t state() const { return batch_ * hidden_; }
  /// Calls run_in(T()) with what the products multiply: bfloat16 where all of these are, and the CPU multiplies it
  /// faster than float32.
  template <class F>
  void in_its_type(F&& run_in) const {
    const Tensor* multiplied[] = {&x, &w_ih, &w_hh, &h0};
    if (cube::has_panels(DType::kBFloat16) && std::all_of(std::begin(multiplied), std::end(multiplied),
                                                          [](const Tensor* t) { return t->dtype == DType::kBFloat16; }))
      run_in(BFloat16());
    else
      run_in(0.0f);
  }
  int64_t inputs_ = 0, hidden_ = 0, batch_ = 0, steps_ = 0;
  bool reverse_ = false;
};

/// `count` floats as the products multiply them: as they are, or rounded into `room`.
template <class T>
const T* rounded(const float* from, int64_t count, T* room) {
  if constexpr (std::is_same_v<T, float>) return from;
  converter(DType::kFloat, dtype_of<T>)(from, 1, room, 1, count);
  return room;
}

struct DynamicRnn final : Layer {
  Tensor bias, y, h, c, i, j, f, o, tanhc;

  void prepare() override {
    check();
    require(!bias.defined() || bias.count() == 4 * hidden_, "bias is {}; it must hold {} numbers", bias, 4 * hidden_);
    const Tensor* results[] = {&y, &h, &c, &i, &j, &f, &o, &tanhc};
    const char* names[] = {"y", "output_h", "output_c", "i", "j", "f", "o", "tanhc"};
    for (size_t k = 0; k < 8; ++k) check_state(*results[k], names[k], steps_);
  }
  void run() override {
    in_its_type([this](auto type) { run_in<decltype(type)>(); });
  }
  int64_t cost() const override { return 1000 + steps_ * batch_ * hidden_ * (inputs_ + hidden_); }

 private:
  template <class T>
  void run_in();
};

template <class T>
void DynamicRnn::run_in() {
  const int64_t wide = 4 * hidden_, rows = steps_ * batch_;
  const ValuesIn<T> input_weight(w_ih), hidden_weight(w_hh), values(x);
  const FloatsIn first_h(h0), first_c(c0);
  const Scratch<T> multiplied(state());
  const Scratch<float> gx(rows * wide), gh(batch_ * wide), now_h(state()), now_c(state()), last_h(state()),
      last_c(state());
  if (bias.defined()) {
    // The bias is where the sums begin.
    const FloatsIn b(bias);
    for (int64_t row = 0; row < rows; ++row) std::copy_n(static_cast<const float*>(b), wide, gx + row * wide);
  }
  // All steps' inputs are one product; only the hidden half waits for the step before it.
  cube::KeptRight<T>(false, inputs_, wide, input_weight)
      .multiply(false, rows, values, bias.defined() ? 1.0f : 0.0f, gx);
  const cube::KeptRight<T> hidden(false, hidden_, wide, hidden_weight);
  const FloatsOut all_y(y), all_h(h), all_c(c), all_i(i), all_j(j), all_f(f), all_o(o), all_tanhc(tanhc);
  std::copy_n(static_cast<const float*>(first_h), state(), now_h.data());
  std::copy_n(static_cast<const float*>(first_c), state(), now_c.data());
  const std::vector<bool> runs = read_mask();
  for (int64_t s = 0; s < steps_; ++s) {
    const int64_t t = time_of(s), at = t * state();
    // Kept for sequences that do not run: their state passes through the step.
    if (masked()) {
      std::copy_n(now_h.data(), state(), last_h.data());
      std::copy_n(now_c.data(), state(), last_c.data());
    }
    hidden.multiply(false, batch_, rounded(now_h, state(), multiplied.data()), 0, gh);
    lstm_cell(gx + t * batch_ * wide, gh, batch_, hidden_,
              {all_i + at, all_j + at, all_f + at, all_o + at, all_tanhc + at}, now_c, now_h);
    std::copy_n(now_h.data(), state(), all_y + at);
    // Their output is 0 all the same, as in a padded sequence.
    keep_rows(runs, t, hidden_, nullptr, all_y + at);
    keep_rows(runs, t, hidden_, last_h, now_h);
    keep_rows(runs, t, hidden_, last_c, now_c);
    std::copy_n(now_h.data(), state(), all_h + at);
    std::copy_n(now_c.data(), state(), all_c + at);
  }
  for (const FloatsOut* made : {&all_y, &all_h, &all_c, &all_i, &all_j, &all_f, &all_o, &all_tanhc}) made->store();
}

struct DynamicRnnGrad final : Layer {
  Tensor h, c, grad_y, grad_h, grad_c, i, j, f, o, tanhc;
  Tensor grad_w, grad_w_ih, grad_w_hh, grad_bias, grad_x, grad_h0, grad_c0;

  void prepare() override {
    check();
    if (w.defined()) {
      require(grad_w.shape == w.shape, "dw is {}, w is {}; both have one shape", grad_w, w);
      split(grad_w, inputs_, grad_w_ih, grad_w_hh);
    }
    const Tensor* given[] = {&h, &c, &grad_y, &i, &j, &f, &o, &tanhc};
    const char* names[] = {"output_h", "output_c", "dy", "i", "j", "f", "o", "tanhc"};
    for (size_t k = 0; k < 8; ++k) check_state(*given[k], names[k], steps_);
    const Tensor* single[] = {&grad_h, &grad_c, &grad_h0, &grad_c0};
    for (const Tensor* t : single) check_state(*t, "a gradient of h or c", 1);
    require(grad_w_ih.shape == w_ih.shape && grad_w_hh.shape == w_hh.shape && grad_bias.count() == 4 * hidden_ &&
                grad_x.count() == x.count(),
            "gradients are {}, {}, {}, {}; the tensors are {}, {}, [{}], {}", grad_w_ih, grad_w_hh, grad_bias, grad_x,
            w_ih, w_hh, 4 * hidden_, x);
  }
  void run() override {
    in_its_type([this](auto type) { run_in<decltype(type)>(); });
  }
  int64_t cost() const override { return 1000 + 3 * steps_ * batch_ * hidden_ * (inputs_ + hidden_); }

 private:
  template <class T>
  void run_in();
  template <class T>
  const T* gate_gradients(float* dgates, T* room);
};

// Gradients of the gates before activation of every step, also as the products multiply them; writes those of the first
// state.
template <class T>
const T* DynamicRnnGrad::gate_gradients(float* dgates, T* room) {
  const int64_t wide = 4 * hidden_;
  const ValuesIn<T> hidden_weight(w_hh);
  const FloatsIn dy(grad_y), states_c(c), first_c(c0), all_i(i), all_j(j), all_f(f), all_o(o), all_tanhc(tanhc),
      last_dh(grad_h), last_dc(grad_c);
  const Scratch<float> dh(state()), dc(state()), later_h(state()), later_c(state());
  std::copy_n(static_cast<const float*>(last_dh), state(), dh.data());
  std::copy_n(static_cast<const float*>(last_dc), state(), dc.data());
  const cube::KeptRight<T> hidden(true, wide, hidden_, hidden_weight);
  const std::vector<bool> runs = read_mask();
  for (int64_t s = steps_; s-- > 0;) {
    const int64_t t = time_of(s), at = t * state(), gates = t * batch_ * wide;
    // The gradients that come from later steps: a sequence that does not run hands them on as they are.
    if (masked()) {
      std::copy_n(dh.data(), state(), later_h.data());
      std::copy_n(dc.data(), state(), later_c.data());
    }
    for (int64_t k = 0; k < state(); ++k) dh[k] += dy[at + k];
    const float* c_before = before(s) < 0 ? static_cast<const float*>(first_c) : states_c + before(s) * state();
    lstm_cell_grad(dh, {all_i + at, all_j + at, all_f + at, all_o + at, all_tanhc + at}, c_before, batch_, hidden_, dc,
                   dgates + gates);
    // Steps that did not run have no gates: zeros keep them out of the products below.
    keep_rows(runs, t, wide, nullptr, dgates + gates);
    // h acts on the state before only through the gates.
    hidden.multiply(false, batch_, rounded(dgates + gates, batch_ * wide, room + gates), 0, dh);
    keep_rows(runs, t, hidden_, later_h, dh);
    keep_rows(runs, t, hidden_, later_c, dc);
  }
  write_floats(grad_h0, dh);
  write_floats(grad_c0, dc);
  if constexpr (std::is_same_v<T, float>) return dgates;
  return room;
}

template <class T>
void DynamicRnnGrad::run_in() {
  const int64_t wide = 4 * hidden_, rows = steps_ * batch_;
  const ValuesIn<T> first(h0), states(h), values(x), input_weight(w_ih);
  // Of the step processed before, which in reverse is the one behind it in time.
  const Scratch<T> began(steps_ * state());  // the hidden state every step began with
  for (int64_t s = 0; s < steps_; ++s)
    std::copy_n(before(s) < 0 ? static_cast<const T*>(first) : states + before(s) * state(), state(),
                began + time_of(s) * state());
  const Scratch<float> dgates(rows * wide);
  const Scratch<T> room(std::is_same_v<T, float> ? 0 : rows * wide);
  const T* gates = gate_gradients<T>(dgates, room);
  const FloatsOut dx(grad_x), dwi(grad_w_ih), dwh(grad_w_hh), db(grad_bias);
  cube::KeptRight<T>(true, wide, inputs_, input_weight).multiply(false, rows, gates, 0, dx);
  const cube::KeptRight<T> all_gates(false, rows, wide, gates);
  all_gates.multiply(true, inputs_, values, 0, dwi);
  all_gates.multiply(true, hidden_, began, 0, dwh);
  sum_rows(dgates, rows, wide, db);
  for (const FloatsOut* made : {&dx, &dwi, &dwh, &db}) made->store();
}

NPU_OPERATOR(DynamicRnn, "dynamic_rnn", "rnn", in<&DynamicRnn::x>("x"), optional<&DynamicRnn::w>("w"),
             attr<&DynamicRnn::direction>("direction"), optional<&DynamicRnn::w_ih>("w_ih"),
             optional<&DynamicRnn::w_hh>("w_hh"), optional<&DynamicRnn::seq_length>("seq_length"),
             optional<&DynamicRnn::bias>("bias"), in<&DynamicRnn::h0>("init_h"), in<&DynamicRnn::c0>("init_c"),
             out<&DynamicRnn::y>("y"), out<&DynamicRnn::h>("output_h"), out<&DynamicRnn::c>("output_c"),
             out<&DynamicRnn::i>("i"), out<&DynamicRnn::j>("j"), out<&DynamicRnn::f>("f"), out<&DynamicRnn::o>("o"),
             out<&DynamicRnn::tanhc>("tanhc"));
NPU_OPERATOR(DynamicRnnGrad, "dynamic_rnn_grad", "rnn", in<&DynamicRnnGrad::x>("x"), optional<&DynamicRnnGrad::w>("w"),
             attr<&DynamicRnnGrad::direction>("direction"), optional<&DynamicRnnGrad::w_ih>("w_ih"),
             optional<&DynamicRnnGrad::w_hh>("w_hh"), optional<&DynamicRnnGrad::seq_length>("seq_length"),
             in<&DynamicRnnGrad::h0>("init_h"), in<&DynamicRnnGrad::c0>("init_c"), in<&DynamicRnnGrad::h>("h"),
             in<&DynamicRnnGrad::c>("c"), in<&DynamicRnnGrad::grad_y>("dy"), in<&DynamicRnnGrad::grad_h>("dh"),
             in<&DynamicRnnGrad::grad_c>("dc"), in<&DynamicRnnGrad::i>("i"), in<&DynamicRnnGrad::j>("j"),
             in<&DynamicRnnGrad::f>("f"), in<&DynamicRnnGrad::o>("o"), in<&DynamicRnnGrad::tanhc>("tanhc"),
             optional_out<&DynamicRnnGrad::grad_w>("dw"), optional_out<&DynamicRnnGrad::grad_w_ih>("dw_ih"),
             optional_out<&DynamicRnnGrad::grad_w_hh>("dw_hh"), out<&DynamicRnnGrad::grad_bias>("db"),
             out<&DynamicRnnGrad::grad_x>("dx"), out<&DynamicRnnGrad::grad_h0>("dh_prev"),
             out<&DynamicRnnGrad::grad_c0>("dc_prev"));

}  // namespace
}  // namespace npu::ops
