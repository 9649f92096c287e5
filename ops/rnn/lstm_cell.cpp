// SPDX-License-Identifier: Apache-2.0
// One step of an LSTM whose gates before activation, [B, 4H] in torch's order i f g o, the client has already
// multiplied out; and its gradient. `storage` carries the activated gates from one to the other.
// A sequence's row is one part: it is computed in float32 by one thread and rounded as it is stored.
#include <cmath>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/rnn/cell_kernel.h"
#include "ops/rnn/floats.h"
#include "ops/scratch.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

void check_cell(const Tensor& cell, const char* name) {
  require(cell.rank() == 2 && is_floating(cell.dtype), "{} is {}; it must be floating point, [batch, hidden]", name,
          cell);
}

Dims gate_shape(const Tensor& cell) { return {cell.shape[0], 4 * cell.shape[1]}; }

Rows rows_of(const Tensor& t) { return t.defined() ? Rows(t, t.rank() - 1, DType::kFloat) : Rows(); }

// A row as numbers the caller may change; zeros where the tensor was left out.
void read_row(const Tensor& t, const Rows& rows, int64_t row, int64_t count, float* to) {
  if (!t.defined()) {
    std::fill(to, to + count, 0.0f);
    return;
  }
  const auto* from = static_cast<const float*>(rows.load(row, to));
  if (from != to) std::copy_n(from, count, to);
}

void write_row(const Rows& rows, int64_t row, const float* from) {
  const Scratch<float> buffer(rows.length());
  auto* to = static_cast<float*>(rows.target(row, buffer));
  std::copy_n(from, rows.length(), to);
  rows.store(row, to);
}

struct LstmCell final : Operator {
  Tensor input_gates, hidden_gates, cx, input_bias, hidden_bias, hy, cy, storage;

  void prepare() override {
    check_cell(cx, "c");
    const Dims gates = gate_shape(cx), bias = {gates[1]};
    check_shape(input_gates, "input_gates", gates);
    check_shape(hidden_gates, "hidden_gates", gates);
    if (input_bias.defined()) check_shape(input_bias, "input_bias", bias);
    if (hidden_bias.defined()) check_shape(hidden_bias, "hidden_bias", bias);
    check_shape(hy, "hy", cx.shape);
    check_shape(cy, "cy", cx.shape);
    check_shape(storage, "storage", gates);
    rows_ = {rows_of(input_gates), rows_of(hidden_gates), rows_of(cx), rows_of(input_bias),
             rows_of(hidden_bias), rows_of(hy),           rows_of(cy), rows_of(storage)};
  }
  void run() override {
    const int64_t wide = 4 * cx.shape[1];
    const Scratch<float> bias(wide), second(wide);
    // Both biases meet in float32, once for all rows.
    read_row(input_bias, rows_[3], 0, wide, bias);
    read_row(hidden_bias, rows_[4], 0, wide, second);
    for (int64_t i = 0; i < wide; ++i) bias[i] += second[i];
    parallel_parts(cx.shape[0], [&](int64_t row) { run_row(row, bias); });
  }
  int64_t cost() const override { return 500 + 60 * cx.count(); }

 private:
  void run_row(int64_t row, const float* bias) const {
    const int64_t hidden = cx.shape[1], wide = 4 * hidden;
    const Scratch<float> gx(wide), gh(wide), c(hidden), h(hidden), tanhc(hidden), gates(wide);
    read_row(input_gates, rows_[0], row, wide, gx);
    read_row(hidden_gates, rows_[1], row, wide, gh);
    read_row(cx, rows_[2], row, hidden, c);
    for (int64_t i = 0; i < wide; ++i) gx[i] += bias[i];
    // The activated gates lie as the gates do, i f g o, which backward reads again.
    const LstmStep saved{gates, gates + 2 * hidden, gates + hidden, gates + 3 * hidden, tanhc};
    lstm_cell(gx, gh, 1, hidden, saved, c, h);
    write_row(rows_[5], row, h);
    write_row(rows_[6], row, c);
    write_row(rows_[7], row, gates);
  }
  std::vector<Rows> rows_;
};

struct LstmCellBackward final : Operator {
  Tensor grad_hy, grad_cy, cx, cy, storage, grad_gates, grad_cx, grad_bias;
  bool has_bias = true;

  void prepare() override {
    check_cell(cx, "cx");
    check_shape(cy, "cy", cx.shape);
    if (grad_hy.defined()) check_shape(grad_hy, "grad_hy", cx.shape);
    if (grad_cy.defined()) check_shape(grad_cy, "grad_cy", cx.shape);
    const Dims gates = gate_shape(cx);
    check_shape(storage, "storage", gates);
    check_shape(grad_gates, "grad_gates", gates);
    check_shape(grad_cx, "grad_cx", cx.shape);
    if (writes_bias()) check_shape(grad_bias, "grad_bias", {gates[1]});
    rows_ = {rows_of(grad_hy), rows_of(grad_cy),    rows_of(cx),     rows_of(cy),
             rows_of(storage), rows_of(grad_gates), rows_of(grad_cx)};
  }
  void run() override {
    const int64_t batch = cx.shape[0], wide = 4 * cx.shape[1];
    // Float32, also where the client's gradient is of halves: the bias is summed from these.
    const Scratch<float> gates(batch * wide);
    parallel_parts(batch, [&](int64_t row) { run_row(row, gates + row * wide); });
    if (!writes_bias()) return;
    // The order does not depend on who computed which row.
    const Scratch<float> sums(wide);
    sum_rows(gates, batch, wide, sums);
    write_row(rows_of(grad_bias), 0, sums);
  }
  int64_t cost() const override { return 500 + 60 * cx.count(); }

 private:
  bool writes_bias() const { return has_bias && grad_bias.defined(); }
  void run_row(int64_t row, float* dgates) const {
    const int64_t hidden = cx.shape[1];
    const Scratch<float> dh(hidden), dc(hidden), before(hidden), tanhc(hidden), gates(4 * hidden);
    read_row(grad_hy, rows_[0], row, hidden, dh);
    read_row(grad_cy, rows_[1], row, hidden, dc);
    read_row(cx, rows_[2], row, hidden, before);
    read_row(cy, rows_[3], row, hidden, tanhc);
    read_row(storage, rows_[4], row, 4 * hidden, gates);
    // Storage has no room for tanh(c), so it is formed again from c.
    for (int64_t i = 0; i < hidden; ++i) tanhc[i] = std::tanh(tanhc[i]);
    const LstmValues<const float> saved{gates, gates + 2 * hidden, gates + hidden, gates + 3 * hidden, tanhc};
    lstm_cell_grad(dh, saved, before, 1, hidden, dc, dgates);
    write_row(rows_[5], row, dgates);
    write_row(rows_[6], row, dc);
  }
  std::vector<Rows> rows_;
};

NPU_OPERATOR(LstmCell, "lstm_cell", "rnn", in<&LstmCell::input_gates>("input_gates"),
             in<&LstmCell::hidden_gates>("hidden_gates"), in<&LstmCell::cx>("cx"),
             optional<&LstmCell::input_bias>("input_bias"), optional<&LstmCell::hidden_bias>("hidden_bias"),
             out<&LstmCell::hy>("hy"), out<&LstmCell::cy>("cy"), out<&LstmCell::storage>("storage"));
NPU_OPERATOR(LstmCellBackward, "lstm_cell_backward", "rnn", optional<&LstmCellBackward::grad_hy>("grad_hy"),
             optional<&LstmCellBackward::grad_cy>("grad_cy"), in<&LstmCellBackward::cx>("cx"),
             in<&LstmCellBackward::cy>("cy"), in<&LstmCellBackward::storage>("storage"),
             attr<&LstmCellBackward::has_bias>("has_bias"), out<&LstmCellBackward::grad_gates>("grad_gates"),
             out<&LstmCellBackward::grad_cx>("grad_cx"), optional_out<&LstmCellBackward::grad_bias>("grad_bias"));

}  // namespace
}  // namespace npu::ops
