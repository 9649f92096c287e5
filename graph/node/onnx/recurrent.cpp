// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM of ONNX, in all their forms. What the inputs bring is one product for all steps; then each row of
// the batch walks its own sequence in each direction. DynamicQuantizeLSTM is the LSTM with weights of bytes: its inputs
// and states are rounded to bytes whose scale is theirs (byte_scale.h), and the products are taken of what those stand
// for, which is the product of the bytes but for float's rounding.
#include <algorithm>
#include <span>

#include "base/thread_pool.h"
#include "graph/node/onnx/activation.h"
#include "graph/node/onnx/byte_scale.h"
#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

enum class Cell : uint8_t { kPlain, kGru, kLstm };

struct Recurrent {
  Cell cell = Cell::kPlain;
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1;
  bool backwards = false, batch_first = false, reset_last = false, coupled = false;
  bool quantised = false;  ///< weights of bytes, [directions, input or hidden, width]
  double clip = 0;         ///< 0: none
  std::vector<Activation> activations;
  int64_t gates() const { return cell == Cell::kPlain ? 1 : cell == Cell::kGru ? 3 : 4; }
  int64_t width() const { return gates() * hidden; }
  size_t functions() const { return cell == Cell::kPlain ? 1 : cell == Cell::kGru ? 2 : 3; }
  /// Whether direction `d` begins at the end.
  bool reversed(int64_t d) const { return backwards || d == 1; }
};

std::vector<std::string> usual(const Recurrent& r) {
  std::vector<std::string> out;
  for (int64_t d = 0; d < r.directions; ++d) {
    if (r.cell != Cell::kPlain) out.emplace_back("Sigmoid");
    out.emplace_back("Tanh");
    if (r.cell == Cell::kLstm) out.emplace_back("Tanh");
  }
  return out;
}

void check(const Lowering& l, size_t i, const char* name, const Dims& wanted) {
  if (has(l, i)) require(l.shape(at(l, i)) == wanted, "{} is {}; it must be {}", name, l.shape(at(l, i)), wanted);
}

Dims state_shape(const Recurrent& r) {
  return r.batch_first ? Dims{r.batch, r.directions, r.hidden} : Dims{r.directions, r.batch, r.hidden};
}

void check_shapes(const Lowering& l, const Recurrent& r) {
  const auto weight = [&](int64_t size) {
    return r.quantised ? Dims{r.directions, size, r.width()} : Dims{r.directions, r.width(), size};
  };
  check(l, 1, "W", weight(r.input));
  check(l, 2, "R", weight(r.hidden));
  check(l, 3, "B", {r.directions, 2 * r.width()});
  check(l, 4, "sequence_lens", {r.batch});
  check(l, 5, "initial_h", state_shape(r));
  if (r.cell != Cell::kLstm) return;
  check(l, 6, "initial_c", state_shape(r));
  check(l, 7, "P", {r.directions, 3 * r.hidden});
}

Recurrent describe(const Lowering& l, Cell cell, bool quantised) {
  require_floats(l, 0);
  const Dims &x = l.shape(at(l, 0)), &hidden = l.shape(at(l, 2));
  require(x.size() == 3 && hidden.size() == 3, "X is {}, R is {}; both must have 3 axes", x, hidden);
  Recurrent r;
  r.cell = cell, r.quantised = quantised;
  r.batch_first = int_attribute(l, "layout", 0) != 0;
  r.steps = x[r.batch_first ? 1 : 0], r.batch = x[r.batch_first ? 0 : 1], r.input = x[2];
  r.hidden = int_attribute(l, "hidden_size", hidden[quantised ? 1 : 2]);
  const std::string direction = text_attribute(l, "direction", "forward");
  require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
          "direction is '{}'; forward, reverse and bidirectional are known", direction);
  r.backwards = direction == "reverse", r.directions = direction == "bidirectional" ? 2 : 1;
  r.reset_last = int_attribute(l, "linear_before_reset", 0) != 0, r.coupled = int_attribute(l, "input_forget", 0) != 0;
  r.clip = float_attribute(l, "clip", 0);
  check_shapes(l, r);
  r.activations = activations_of(l, usual(r), static_cast<size_t>(r.directions) * r.functions());
  return r;
}

/// All that the walk reads; absent ones have no slot.
struct Inputs {
  Planned brought;  ///< [directions, steps · batch, width]: X · W^T
  Planned hidden;   ///< [directions, hidden, width]: R^T
  Planned bias, lengths, state, memory, peepholes;
};

/// Elements of one direction of a walk; null where they are left out.
template <class T>
struct Given {
  const T *brought, *hidden, *bias, *state, *memory, *peepholes;
};

template <class T>
class Walk {
 public:
  Walk(const Recurrent& r, const Given<T>& given, std::span<const Activation> functions)
      : r_(r),
        given_(given),
        f_(functions),
        gates_(static_cast<size_t>(r.width())),
        h_(static_cast<size_t>(r.hidden)),
        c_(h_.size()),
        held_(h_.size()) {}

  /// Goes over `length` steps of row `b`; to(step) is where the state of a step goes.
  template <class To>
  void run(int64_t b, int64_t length, bool reversed, To&& to) {
    start(h_, given_.state, b), start(c_, given_.memory, b);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t t = reversed ? length - 1 - i : i;
      bring(given_.brought + (t * r_.batch + b) * r_.width());
      if (r_.cell == Cell::kPlain) plain();
      if (r_.cell == Cell::kGru) gru();
      if (r_.cell == Cell::kLstm) lstm();
      std::ranges::copy(h_, to(t));
    }
  }
  const std::vector<T>& state() const { return h_; }
  const std::vector<T>& memory() const { return c_; }

 private:
  void start(std::vector<T>& to, const T* from, int64_t b) const {
    if (from == nullptr)
      std::ranges::fill(to, T{0});
    else
      std::copy_n(from + b * r_.hidden, r_.hidden, to.begin());
  }
  T limited(T x) const {
    const T end = static_cast<T>(r_.clip);
    return end > 0 ? std::clamp(x, -end, end) : x;
  }
  T added(int64_t i) const { return given_.bias == nullptr ? T{0} : given_.bias[i] + given_.bias[r_.width() + i]; }
  T peephole(int64_t which, int64_t i, T c) const {
    return given_.peepholes == nullptr ? T{0} : given_.peepholes[which * r_.hidden + i] * c;
  }
  /// What the step's input brings, with both biases.
  void bring(const T* from) {
    for (int64_t i = 0; i < r_.width(); ++i) at(i) = from[i] + added(i);
  }
  T& at(int64_t i) { return gates_[static_cast<size_t>(i)]; }
  T& gate(int64_t g, int64_t i) { return at(g * r_.hidden + i); }
  /// Adds `from` · R^T for gates [first, end).
  void recur(const std::vector<T>& from, T* to, int64_t first, int64_t end) const {
    for (int64_t k = 0; k < r_.hidden; ++k) {
      const T factor = from[static_cast<size_t>(k)];
      const T* row = given_.hidden + k * r_.width() + first * r_.hidden;
      for (int64_t i = 0; i < (end - first) * r_.hidden; ++i) to[i] += factor * row[i];
    }
  }
  /// `from` as its bytes stand for it.
  const std::vector<T>& coarse(const std::vector<T>& from) {
    const std::vector<float> narrow(from.begin(), from.end());
    const ByteScale bytes = byte_scale_of(narrow.data(), static_cast<int64_t>(narrow.size()));
    std::ranges::transform(narrow, held_.begin(), [&](float x) { return static_cast<T>(bytes.rounded(x)); });
    return held_;
  }
  void plain() {
    recur(h_, gates_.data(), 0, 1);
    for (int64_t i = 0; i < r_.hidden; ++i) h_[static_cast<size_t>(i)] = f_[0](limited(at(i)));
  }
  /// Gates z (keep), r (reset) and h (new).
  void gru() {
    recur(h_, gates_.data(), 0, 2);
    std::vector<T>& back = held_;
    for (int64_t i = 0; i < 2 * r_.hidden; ++i) at(i) = f_[0](limited(at(i)));
    if (r_.reset_last) {
      std::ranges::fill(back, T{0});
      recur(h_, back.data(), 2, 3);
      for (int64_t i = 0; i < r_.hidden; ++i) {
        const int64_t place = 2 * r_.hidden + i;
        const T own = given_.bias == nullptr ? T{0} : given_.bias[r_.width() + place];
        gate(2, i) += gate(1, i) * (back[static_cast<size_t>(i)] + own) - own;
      }
    } else {
      for (int64_t i = 0; i < r_.hidden; ++i) back[static_cast<size_t>(i)] = gate(1, i) * h_[static_cast<size_t>(i)];
      recur(back, gates_.data() + 2 * r_.hidden, 2, 3);
    }
    for (int64_t i = 0; i < r_.hidden; ++i) {
      T& h = h_[static_cast<size_t>(i)];
      h = (T{1} - gate(0, i)) * f_[1](limited(gate(2, i))) + gate(0, i) * h;
    }
  }
  /// Gates i (take), o (show), f (keep) and c (new).
  void lstm() {
    recur(r_.quantised ? coarse(h_) : h_, gates_.data(), 0, 4);
    for (int64_t i = 0; i < r_.hidden; ++i) {
      T &c = c_[static_cast<size_t>(i)], &h = h_[static_cast<size_t>(i)];
      const T take = f_[0](limited(gate(0, i) + peephole(0, i, c)));
      const T keep = r_.coupled ? T{1} - take : f_[0](limited(gate(2, i) + peephole(2, i, c)));
      c = keep * c + take * f_[1](limited(gate(3, i)));
      h = f_[0](limited(gate(1, i) + peephole(1, i, c))) * f_[2](c);
    }
  }

  const Recurrent& r_;
  const Given<T> given_;
  const std::span<const Activation> f_;
  std::vector<T> gates_, h_, c_, held_;
};

/// A state as [directions, batch, hidden], in rows.
Planned state_of(Lowering& l, const Recurrent& r, size_t i, DType slot) {
  if (!has(l, i)) return {};
  const Planned in = l.input(at(l, i));
  return rows_of(l, r.batch_first ? permuted(in, {1, 0, 2}) : in, slot);
}

/// Numbers of a scale or zero point that stands for all of a direction or for each column, [directions, 1, width or 1].
Planned of_columns(Lowering& l, const Recurrent& r, size_t i, DType slot) {
  const Planned in = rows_of(l, l.input(at(l, i)), slot);
  const Dims all{r.directions}, each{r.directions, r.width()};
  require(in.shape() == all || in.shape() == each, "input {} is {}; it must be {} or {}", i, in.shape(), all, each);
  return reshaped(in, {r.directions, 1, in.shape() == each ? r.width() : 1});
}

/// Weight `i` as [directions, input or hidden, width]; one of bytes has its scale at `first` and a zero point behind.
Planned weight_of(Lowering& l, const Recurrent& r, size_t i, size_t first, DType slot) {
  const Planned in = l.input(at(l, i));
  if (!r.quantised) return permuted(rows_of(l, in, slot), {0, 2, 1});
  const Planned out = l.scratch(slot, in.shape());
  copy(l, in, out);
  if (has(l, first + 1)) {
    const Planned zero = of_columns(l, r, first + 1, slot);
    l.call("sub").set("self", out).set("other", zero).set("out", out);
  }
  const Planned scale = of_columns(l, r, first, slot);
  l.call("mul").set("self", out).set("other", scale).set("out", out);
  return out;
}

/// What the bytes of `x` stand for, whose scale is that of all its numbers.
Planned coarse_rows(Lowering& l, const Planned& x) {
  const Planned out = l.scratch(DType::kFloat, x.shape());
  l.run({x}, {out}, [=](Frame& frame) {
    const Tensor from = frame.tensor(x);
    const ByteScale bytes = byte_scale_of(from.as<float>(), from.count());
    std::transform(from.as<float>(), from.as<float>() + from.count(), frame.tensor(out).as<float>(),
                   [&](float one) { return bytes.rounded(one); });
  });
  return out;
}

Inputs inputs_of(Lowering& l, const Recurrent& r, DType slot) {
  constexpr size_t kScaleOfW = 8, kScaleOfR = 10;
  const Planned in = l.input(at(l, 0));
  Planned x = reshaped(rows_of(l, r.batch_first ? permuted(in, {1, 0, 2}) : in, slot), {r.steps * r.batch, r.input});
  if (r.quantised && x.view.count() > 0) x = coarse_rows(l, x);
  const Planned w = weight_of(l, r, 1, kScaleOfW, slot);
  Inputs out;
  out.hidden = rows_of(l, weight_of(l, r, 2, kScaleOfR, slot), slot);
  out.brought = l.scratch(slot, {r.directions, r.steps * r.batch, r.width()});
  for (int64_t d = 0; d < r.directions && out.brought.view.count() > 0; ++d)
    l.call("matmul").set("self", x).set("mat2", without_axis(w, 0, d)).set("out", without_axis(out.brought, 0, d));
  if (has(l, 3)) out.bias = rows_of(l, l.input(at(l, 3)), slot);
  if (has(l, 4)) out.lengths = rows_of(l, l.input(at(l, 4)), DType::kInt64);
  out.state = state_of(l, r, 5, slot);
  if (r.cell != Cell::kLstm) return out;
  out.memory = state_of(l, r, 6, slot);
  if (has(l, 7)) out.peepholes = rows_of(l, l.input(at(l, 7)), slot);
  return out;
}

/// The elements of direction `d` of an input, or null.
template <class T>
const T* part(const Frame& frame, const Planned& planned, int64_t d, int64_t directions) {
  if (planned.slot < 0) return nullptr;
  const Tensor t = frame.tensor(planned);
  return t.as<T>() + d * (t.count() / directions);
}

std::vector<int64_t> lengths_of(const Frame& frame, const Planned& planned, const Recurrent& r) {
  if (planned.slot < 0) return std::vector<int64_t>(static_cast<size_t>(r.batch), r.steps);
  const auto* from = frame.tensor(planned).as<int64_t>();
  std::vector<int64_t> out(from, from + r.batch);
  for (const int64_t length : out)
    require(length >= 0 && length <= r.steps, "sequence_lens holds {}; there are {} steps", length, r.steps);
  return out;
}

/// Where results go: all states [steps, directions, batch, hidden], the last ones [directions, batch, hidden].
template <class T>
struct Target {
  T *all, *last, *memory;
};

template <class T>
void walk_all(const Frame& frame, const Recurrent& r, const Inputs& in, const Target<T>& to) {
  const std::vector<int64_t> lengths = lengths_of(frame, in.lengths, r);
  const size_t functions = r.functions();
  parallel_parts(r.directions * r.batch, [&](int64_t i) {
    const int64_t d = i / r.batch, b = i % r.batch, length = lengths[static_cast<size_t>(b)];
    const auto of = [&](const Planned& planned) { return part<T>(frame, planned, d, r.directions); };
    const Given<T> given{of(in.brought), of(in.hidden), of(in.bias), of(in.state), of(in.memory), of(in.peepholes)};
    Walk<T> walk(r, given, std::span(r.activations).subspan(static_cast<size_t>(d) * functions, functions));
    const auto place = [&](int64_t t) { return to.all + ((t * r.directions + d) * r.batch + b) * r.hidden; };
    walk.run(b, length, r.reversed(d), place);
    for (int64_t t = length; t < r.steps; ++t) std::fill_n(place(t), r.hidden, T{0});
    std::ranges::copy(walk.state(), to.last + i * r.hidden);
    std::ranges::copy(walk.memory(), to.memory + i * r.hidden);
  });
}

void store(Lowering& l, const Recurrent& r, size_t i, const Planned& from) {
  if (!wants(l, i)) return;
  const bool all = from.shape().size() == 4;
  const Planned view = !r.batch_first ? from : all ? permuted(from, {2, 0, 1, 3}) : permuted(from, {1, 0, 2});
  copy(l, view, l.make(i, l.dtype(0), view.shape()));
}

void recurrent(Lowering& l, Cell cell, bool quantised = false) {
  const Recurrent r = describe(l, cell, quantised);
  const DType slot = slot_of(l.dtype(0));
  const Inputs in = inputs_of(l, r, slot);
  const Planned all = l.scratch(slot, {r.steps, r.directions, r.batch, r.hidden});
  const Planned last = l.scratch(slot, {r.directions, r.batch, r.hidden}), memory = l.scratch(slot, last.shape());
  std::vector<Planned> used{in.brought, in.hidden, all, last, memory};
  for (const Planned& planned : {in.bias, in.lengths, in.state, in.memory, in.peepholes})
    if (planned.slot >= 0) used.push_back(planned);
  l.run(used, [=](Frame& frame) {
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      walk_all<T>(frame, r, in, {frame.tensor(all).as<T>(), frame.tensor(last).as<T>(), frame.tensor(memory).as<T>()});
    });
  });
  store(l, r, 0, all), store(l, r, 1, last);
  if (cell == Cell::kLstm) store(l, r, 2, memory);
}

void rnn(Lowering& l) { recurrent(l, Cell::kPlain); }
void gru(Lowering& l) { recurrent(l, Cell::kGru); }
void lstm(Lowering& l) { recurrent(l, Cell::kLstm); }
void quantised_lstm(Lowering& l) {
  require(l.dtype(at(l, 0)) == DType::kFloat, "X is {}; it must be float", l.dtype(at(l, 0)));
  for (const size_t weight : {1U, 2U})
    require(size_of(l.dtype(at(l, weight))) == 1, "input {} is {}; it must be int8 or uint8", weight,
            l.dtype(at(l, weight)));
  recurrent(l, Cell::kLstm, true);
}

NPU_NODE("ai.onnx::RNN", rnn);
NPU_NODE("ai.onnx::GRU", gru);
NPU_NODE("ai.onnx::LSTM", lstm);
NPU_NODE("ai.onnx::DynamicQuantizeLSTM", quantised_lstm);

}  // namespace
}  // namespace npu::graph::onnx
