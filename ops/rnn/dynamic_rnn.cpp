// SPDX-License-Identifier: Apache-2.0
// One layer of an LSTM in one direction over the steps of [T, B, I], with weights as [I, 4H] and [H, 4H] in torch's
// gate order, and its gradient: what clients of the single-operator interface run an LSTM cell with (T = 1). A sequence
// that ended, or has not begun, keeps its state and puts out 0.
// Steps that do not run are computed like the others and replaced afterwards: the batch stays one product.
#include <algorithm>
#include <string>
#include <vector>

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
  int64_t inputs_ = 0, hidden_ = 0, batch_ = 0, steps_ = 0;
  bool reverse_ = false;
};

struct DynamicRnn final : Layer {
  Tensor bias, y, h, c, i, j, f, o, tanhc;

  void prepare() override {
    check();
    require(!bias.defined() || bias.count() == 4 * hidden_, "bias is {}; it must hold {} numbers", bias, 4 * hidden_);
    const char* names[] = {"y", "output_h", "output_c", "i", "j", "f", "o", "tanhc"};
    for (size_t k = 0; k < 8; ++k) check_state(*results()[k], names[k], steps_);
  }
  void run() override;
  int64_t cost() const override { return 1000 + steps_ * batch_ * hidden_ * (inputs_ + hidden_); }

 private:
  std::vector<const Tensor*> results() const { return {&y, &h, &c, &i, &j, &f, &o, &tanhc}; }
};

void DynamicRnn::run() {
  const int64_t wide = 4 * hidden_, rows = steps_ * batch_;
  Floats gx(static_cast<size_t>(rows * wide)), gh(static_cast<size_t>(batch_ * wide)), now_h = read_floats(h0),
                                                                                       now_c = read_floats(c0);
  if (bias.defined()) {
    // The bias is where the sums begin.
    const Floats b = read_floats(bias);
    for (int64_t row = 0; row < rows; ++row) std::copy(b.begin(), b.end(), gx.begin() + row * wide);
  }
  const Floats wh = read_floats(w_hh);
  // All steps' inputs are one product; only the hidden half waits for the step before it.
  add_product(false, false, rows, wide, inputs_, read_floats(x).data(), read_floats(w_ih).data(), gx.data());
  std::vector<Floats> made(8, Floats(static_cast<size_t>(steps_ * state())));
  const std::vector<bool> runs = read_mask();
  for (int64_t s = 0; s < steps_; ++s) {
    const int64_t t = time_of(s);
    // Kept for sequences that do not run: their state passes through the step.
    const Floats last_h = now_h, last_c = now_c;
    std::fill(gh.begin(), gh.end(), 0.0f);
    add_product(false, false, batch_, wide, hidden_, now_h.data(), wh.data(), gh.data());
    const auto at = [&](size_t k) { return made[k].data() + t * state(); };
    const LstmStep saved{at(3), at(4), at(5), at(6), at(7)};
    lstm_cell(gx.data() + t * batch_ * wide, gh.data(), batch_, hidden_, saved, now_c.data(), now_h.data());
    std::copy(now_h.begin(), now_h.end(), at(0));
    // Their output is 0 all the same, as in a padded sequence.
    keep_rows(runs, t, hidden_, nullptr, at(0));
    keep_rows(runs, t, hidden_, last_h.data(), now_h.data());
    keep_rows(runs, t, hidden_, last_c.data(), now_c.data());
    std::copy(now_h.begin(), now_h.end(), at(1));
    std::copy(now_c.begin(), now_c.end(), at(2));
  }
  for (size_t k = 0; k < 8; ++k) write_floats(*results()[k], made[k]);
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
  void run() override;
  int64_t cost() const override { return 1000 + 3 * steps_ * batch_ * hidden_ * (inputs_ + hidden_); }

 private:
  Floats gate_gradients();
};

// Gradients of the gates before activation of every step; writes those of the first state.
Floats DynamicRnnGrad::gate_gradients() {
  const int64_t wide = 4 * hidden_;
  const Floats wh = read_floats(w_hh), dy = read_floats(grad_y), states_c = read_floats(c), first_c = read_floats(c0);
  Floats saved[] = {read_floats(i), read_floats(j), read_floats(f), read_floats(o), read_floats(tanhc)};
  Floats dh = read_floats(grad_h), dc = read_floats(grad_c), dgates(static_cast<size_t>(steps_ * batch_ * wide));
  const std::vector<bool> runs = read_mask();
  for (int64_t s = steps_; s-- > 0;) {
    const int64_t t = time_of(s);
    // The gradients that come from later steps: a sequence that does not run hands them on as they are.
    const Floats later_h = dh, later_c = dc;
    for (int64_t k = 0; k < state(); ++k) dh[static_cast<size_t>(k)] += dy[static_cast<size_t>(t * state() + k)];
    const auto at = [&](size_t k) { return saved[k].data() + t * state(); };
    const float* c_before = before(s) < 0 ? first_c.data() : states_c.data() + before(s) * state();
    float* d = dgates.data() + t * batch_ * wide;
    lstm_cell_grad(dh.data(), {at(0), at(1), at(2), at(3), at(4)}, c_before, batch_, hidden_, dc.data(), d);
    // Steps that did not run have no gates: zeros keep them out of the products below.
    keep_rows(runs, t, wide, nullptr, d);
    // h acts on the state before only through the gates.
    std::fill(dh.begin(), dh.end(), 0.0f);
    add_product(false, true, batch_, hidden_, wide, d, wh.data(), dh.data());
    keep_rows(runs, t, hidden_, later_h.data(), dh.data());
    keep_rows(runs, t, hidden_, later_c.data(), dc.data());
  }
  write_floats(grad_h0, dh);
  write_floats(grad_c0, dc);
  return dgates;
}

void DynamicRnnGrad::run() {
  const int64_t wide = 4 * hidden_, rows = steps_ * batch_;
  const Floats first = read_floats(h0), states = read_floats(h), values = read_floats(x), wi = read_floats(w_ih);
  // Of the step processed before, which in reverse is the one behind it in time.
  Floats began(states.size());  // the hidden state every step began with
  for (int64_t s = 0; s < steps_; ++s)
    std::copy_n(before(s) < 0 ? first.data() : states.data() + before(s) * state(), state(),
                began.data() + time_of(s) * state());
  const Floats dgates = gate_gradients();
  Floats dx(values.size()), dwi(wi.size()), dwh(static_cast<size_t>(hidden_ * wide)), db(static_cast<size_t>(wide));
  add_product(false, true, rows, inputs_, wide, dgates.data(), wi.data(), dx.data());
  add_product(true, false, inputs_, wide, rows, values.data(), dgates.data(), dwi.data());
  add_product(true, false, hidden_, wide, rows, began.data(), dgates.data(), dwh.data());
  // In double, row after row.
  for (int64_t k = 0; k < wide; ++k) {
    double sum = 0;
    for (int64_t row = 0; row < rows; ++row) sum += static_cast<double>(dgates[static_cast<size_t>(row * wide + k)]);
    db[static_cast<size_t>(k)] = static_cast<float>(sum);
  }
  write_floats(grad_x, dx);
  write_floats(grad_w_ih, dwi);
  write_floats(grad_w_hh, dwh);
  write_floats(grad_bias, db);
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
