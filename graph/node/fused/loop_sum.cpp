// SPDX-License-Identifier: Apache-2.0
// Sums of products over the turns of a loop, as gradients of weights are. The operands are put by, and many products
// are added at once: the threads meet once for all of them, and the sum stays in the caches meanwhile.
#include <cstring>

#include "graph/plan/lowering.h"
#include "graph/plan/refusal.h"
#include "graph/run/frame.h"
#include "graph/value/arithmetic.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 18;  // of operands put by: they are still in the caches when they are read

/// Operands whose products are yet to be added to `sum`.
class LoopSum final : public Object {
 public:
  struct Pair {
    Value left, right;  ///< matrices, perhaps turned; without left the rows of right are added
  };

  std::string traits() const override { return "sum of products"; }

  void put_by(int device, DType dtype, const Dims& shape, std::vector<Pair> pairs) {
    dtype_ = dtype, shape_ = shape;
    for (Pair& pair : pairs) {
      bytes_ += bytes_of(pair.left.tensor) + bytes_of(pair.right.tensor);
      waiting_.push_back(std::move(pair));
    }
    if (bytes_ >= kMostBytes) add_up(device);
  }

  /// The sum; undefined when nothing was put by.
  Value settled(int device) {
    add_up(device);
    return sum_;
  }

 private:
  static bool alike(const Tensor& a, const Tensor& b) {
    return a.defined() == b.defined() && a.shape == b.shape && a.strides == b.strides;
  }

  /// Those of one form together, in the order in which they came.
  void add_up(int device) {
    if (waiting_.empty()) return;
    if (!sum_.tensor.defined()) {
      sum_ = make_value(device, dtype_, shape_);
      std::memset(sum_.tensor.bytes(), 0, static_cast<size_t>(bytes_of(sum_.tensor)));
    } else if (sum_.owner.use_count() > 1) {
      sum_ = copy_of(device, sum_.tensor);
    }
    for (std::vector<Pair> rest = std::move(waiting_); !rest.empty();) {
      std::vector<Pair> others;
      std::vector<Tensor> left, right;
      for (const Pair& pair : rest) {
        if (alike(pair.left.tensor, rest[0].left.tensor) && alike(pair.right.tensor, rest[0].right.tensor))
          left.push_back(pair.left.tensor), right.push_back(pair.right.tensor);
        else
          others.push_back(pair);
      }
      add_products(device, left, right);
      rest = std::move(others);
    }
    waiting_.clear();
    bytes_ = 0;
  }

  /// Rounds as the turns would have, one after another.
  void add_products(int device, const std::vector<Tensor>& left, const std::vector<Tensor>& right) const {
    if (left[0].defined()) {
      ops::Call("product_sum").set("left", left).set("right", right).set("out", sum_.tensor).run();
      return;
    }
    const Value rows = make_value(device, dtype_, shape_);
    ops::Call sum("sum"), add("add");
    sum.set("dim", std::vector<int64_t>{0}).set("out", rows.tensor);
    add.set("self", ops::Operand{sum_.tensor, {}}).set("other", ops::Operand{rows.tensor, {}}).set("out", sum_.tensor);
    for (const Tensor& t : right) {
      sum.set("self", t).run();
      add.run();
    }
  }

  DType dtype_ = DType::kUndefined;
  Dims shape_;
  Value sum_;
  std::vector<Pair> waiting_;
  int64_t bytes_ = 0;
};

Tensor turned(Tensor t) {
  std::swap(t.shape[0], t.shape[1]);
  std::swap(t.strides[0], t.strides[1]);
  return t;
}

/// What one turn adds.
struct Term {
  Planned left, right;
  int64_t form = 0;
  bool rows() const { return form == kAddedRows; }
  bool turns_left() const { return !rows() && (form & kTurnedLeft) != 0; }
  bool turns_right() const { return !rows() && (form & kTurnedRight) != 0; }

  Dims shape() const {
    const Tensor b = turns_right() ? turned(right.view) : right.view;
    if (rows()) return {b.shape[1]};
    const Tensor a = turns_left() ? turned(left.view) : left.view;
    if (a.shape[1] != b.shape[0]) throw Unfused{"inner sizes of a product differ"};
    return {a.shape[0], b.shape[1]};
  }
  LoopSum::Pair values(Frame& frame) const {
    LoopSum::Pair pair;
    if (!rows()) pair.left = frame.value(left);
    pair.right = frame.value(right);
    if (turns_left()) pair.left.tensor = turned(pair.left.tensor);
    if (turns_right()) pair.right.tensor = turned(pair.right.tensor);
    return pair;
  }
};

/// The operands follow each other behind the sum and what was put by.
std::vector<Term> terms_of(const Lowering& l) {
  std::vector<Term> out;
  size_t next = 2;
  for (const int64_t form : l.attributes().get<std::vector<int64_t>>("terms")) {
    Term term;
    term.form = form;
    if (!term.rows()) term.left = l.input(next++);
    term.right = l.input(next++);
    for (size_t i = next - (term.rows() ? 1 : 2); i < next; ++i)
      if (l.shape(i).size() != 2 || l.dtype(i) != l.dtype(0))
        throw Unfused{"an operand is no matrix of the sum's type"};
    if (term.shape() != l.shape(0)) throw Unfused{"what is added has another shape than the sum"};
    out.push_back(std::move(term));
  }
  return out;
}

void loop_sum(Lowering& l) {
  const std::vector<Term> terms = terms_of(l);
  for (size_t i = 2; i < l.input_count(); ++i) l.keep(l.input(i));
  const Planned sum = l.input(0), before = l.input(1), after = l.object(1);
  l.alias(0, sum);
  l.run(l.inputs(), {after}, [=](Frame& frame) {
    std::vector<LoopSum::Pair> pairs;
    for (const Term& term : terms) pairs.push_back(term.values(frame));
    auto mine = std::static_pointer_cast<LoopSum>(frame.take(before).object);
    if (mine.use_count() > 1) mine = std::make_shared<LoopSum>(*mine);
    mine->put_by(frame.device(), sum.dtype(), sum.shape(), std::move(pairs));
    frame.set(after, {{}, nullptr, std::move(mine)});
  });
}

void start_sum(Lowering& l) {
  const Planned out = l.object(0);
  l.run({out}, [out](Frame& frame) { frame.set(out, {{}, nullptr, std::make_shared<LoopSum>()}); });
}

void settle(Lowering& l) {
  const Planned sum = l.input(0), waiting = l.input(1), out = l.late(0, l.dtype(0), l.shape(0));
  l.run({sum, waiting, out}, [=](Frame& frame) {
    const int device = frame.device();
    const Value more = static_cast<LoopSum&>(*frame.value(waiting).object).settled(device), first = frame.value(sum);
    frame.set(out, more.tensor.defined() ? sum_of(device, first, more) : first);
  });
}

NPU_NODE(Kind::kLoopSum, loop_sum);
NPU_NODE(Kind::kLoopSumStart, start_sum);
NPU_NODE(Kind::kLoopSumEnd, settle);

}  // namespace
}  // namespace npu::graph
