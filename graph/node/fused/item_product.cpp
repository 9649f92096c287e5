// SPDX-License-Identifier: Apache-2.0
// Products of a list's elements with a matrix, computed for many elements at once. Nothing is computed before the first
// element is asked for, so a loop without turns, or one that ends early, meets no error that its body would not meet.
#include <optional>

#include "graph/plan/lowering.h"
#include "graph/plan/refusal.h"
#include "graph/run/frame.h"
#include "graph/value/tensor_list.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

// Of so many the products stay in a core's cache until they are asked for, and a loop that ends early did little in
// vain.
constexpr int64_t kRowsAtOnce = 512;

bool same_tensor(const Value& a, const Value& b) {
  return a.owner == b.owner && a.tensor.bytes() == b.tensor.bytes() && a.tensor.shape == b.tensor.shape &&
         a.tensor.strides == b.tensor.strides;
}

/// Elements [begin, begin + count) as one matrix: where they are when they lie behind each other, else a copy.
Tensor stacked(int device, const TensorList& list, size_t begin, size_t count, Value& copy) {
  const Tensor& first = list.elements[begin].tensor;
  const int64_t bytes = bytes_of(first);
  const Dims shape{static_cast<int64_t>(count) * first.shape[0], first.shape[1]};
  bool apart = false;
  std::vector<size_t> positions(count);
  for (size_t i = 0; i < count; ++i) {
    positions[i] = begin + i;
    apart |= list.elements[begin + i].tensor.bytes() != first.bytes() + static_cast<int64_t>(i) * bytes;
  }
  if (!apart) return first.view(shape, contiguous_strides(shape));
  copy = make_value(device, first.dtype, shape);
  stack_into(copy.tensor, list, positions, first.shape);
  return copy.tensor;
}

/// What elements are multiplied with, and what is added to each row (perhaps nothing).
struct Weights {
  Value matrix, bias;
  bool turned = false;
  bool same(const Weights& other) const { return same_tensor(matrix, other.matrix) && same_tensor(bias, other.bias); }
};

Value times(int device, const Tensor& rows, const Weights& weights) {
  Tensor matrix = weights.matrix.tensor;
  if (weights.turned) std::swap(matrix.shape[0], matrix.shape[1]), std::swap(matrix.strides[0], matrix.strides[1]);
  Value out = make_value(device, rows.dtype, {rows.shape[0], matrix.shape[1]});
  ops::Call("matmul").set("self", rows).set("mat2", matrix).set("out", out.tensor).run();
  if (weights.bias.tensor.defined()) {
    const ops::Operand self{out.tensor, {}}, other{weights.bias.tensor, {}};
    ops::Call("add").set("self", self).set("other", other).set("out", out.tensor).run();
  }
  return out;
}

/// The products computed last, and whose they are.
class KeptProducts final : public Object {
 public:
  std::string traits() const override { return "products of elements"; }

  /// The product of list[at], for the caller to write over.
  Value take(int device, const std::shared_ptr<const TensorList>& list, size_t at, const Weights& weights) {
    // The list and the weights held here are written to by nobody: their writers see that they are held.
    if (list_ == nullptr) list_ = list, weights_ = weights;
    if (list_ != list || !weights_.same(weights)) stale_ = true;
    const auto kept = [&] { return at >= begin_ && at < begin_ + products_.size(); };
    if (stale_ || (kept() && !products_[at - begin_].tensor.defined()))
      return times(device, list->elements[at].tensor, weights);
    if (!kept()) multiply(device, at);
    last_ = at;
    return std::exchange(products_[at - begin_], {});
  }

 private:
  /// How many elements to multiply with this one: those that come next when elements are asked for in order.
  void multiply(int device, size_t at) {
    const TensorList& list = *list_;
    const Tensor& element = list.elements[at].tensor;
    const auto most = static_cast<size_t>(std::max<int64_t>(1, kRowsAtOnce / std::max<int64_t>(1, element.shape[0])));
    const size_t count = list.elements.size();
    const auto alike = [&](size_t i) { return list.is_set(i) && list.elements[i].tensor.shape == element.shape; };
    const bool up = at == (last_ ? *last_ + 1 : 0), down = at + 1 == (last_ ? *last_ : count);
    size_t begin = at, end = at + 1;
    if (up)
      while (end < count && end - at < most && alike(end)) ++end;
    else if (down)
      while (begin > 0 && at - begin + 1 < most && alike(begin - 1)) --begin;
    Value copy;
    const Tensor rows = stacked(device, list, begin, end - begin, copy);
    const Value all = times(device, rows, weights_);
    const Dims shape{element.shape[0], all.tensor.shape[1]};
    begin_ = begin;
    products_.clear();
    for (size_t i = 0; i < end - begin; ++i) {
      Value product = all;
      product.tensor = product.tensor.view(shape, all.tensor.strides);
      product.tensor.offset += static_cast<int64_t>(i) * count_of(shape);
      products_.push_back(std::move(product));
    }
  }

  std::shared_ptr<const TensorList> list_;
  Weights weights_;
  bool stale_ = false;  ///< list or weights changed from turn to turn: nothing is worth keeping
  std::optional<size_t> last_;
  size_t begin_ = 0;
  std::vector<Value> products_;  ///< of elements from begin_ on; undefined: taken
};

void kept_products(Lowering& l) {
  const Planned out = l.object(0);
  l.run({out}, [out](Frame& frame) { frame.set(out, {{}, nullptr, std::make_shared<KeptProducts>()}); });
}

bool fits(const Dims& left, const Dims& right, bool turned) {
  return left.size() == 2 && right.size() == 2 && left[1] == right[turned ? 1 : 0];
}

void check(const Lowering& l, bool turned, bool bias, const Dims& out) {
  if (!l.input(2).list) throw Unfused{"the list is the client's"};
  if (l.shape(0)[0] * 2 > kRowsAtOnce) throw Unfused{"the product of one element is large enough"};
  for (size_t i = 1; i < l.input_count(); ++i)
    if (i != 2 && i != 3 && i != 4 && l.dtype(i) != l.dtype(0)) throw Unfused{"the operands are of two types"};
  if (bias && l.shape(5) != Dims{out[1]}) throw Unfused{"the bias has another size"};
  const size_t second = bias ? 6 : 5;
  if (l.input_count() == second) return;
  const Dims &left = l.shape(second), &right = l.shape(second + 1);
  if (!fits(left, right, turned) || left[0] != out[0] || right[turned ? 0 : 1] != out[1])
    throw Unfused{"sizes of the second product do not fit"};
}

/// out = out + left @ right, in place.
void add_product(Lowering& l, size_t first, bool turned, const Planned& out) {
  const Planned right = turned ? permuted(l.input(first + 1), {1, 0}) : l.input(first + 1);
  l.call("addmm").set("self", out).set("mat1", l.input(first)).set("mat2", right).set("out", out);
}

void item_product(Lowering& l) {
  const bool turned = l.attributes().get<bool>("turned"), bias = l.attributes().get<bool>("bias");
  const bool* second = l.attributes().find<bool>("second_turned");
  if (!fits(l.shape(0), l.shape(1), turned)) throw Unfused{"sizes do not fit"};
  const Dims shape{l.shape(0)[0], l.shape(1)[turned ? 0 : 1]};
  check(l, second != nullptr && *second, bias, shape);
  const Planned item = l.input(0), matrix = l.input(1), list = l.input(2), index = l.input(3), kept = l.input(4);
  const Planned added = bias ? l.input(5) : matrix, out = l.late(0, item.dtype(), shape);
  for (const Planned& planned : {matrix, added}) l.keep(planned);
  l.run({item, matrix, list, index, kept, added, out}, [=](Frame& frame) {
    const auto elements = std::static_pointer_cast<const TensorList>(frame.value(list).object);
    const Tensor at = frame.tensor(index);
    const size_t position = elements->position(Scalar(at.bytes(), at.dtype).to_int());
    const Weights weights{frame.value(matrix), bias ? frame.value(added) : Value(), turned};
    const int device = frame.device();
    auto& products = static_cast<KeptProducts&>(*frame.value(kept).object);
    frame.set(out, elements->is_set(position) ? products.take(device, elements, position, weights)
                                              : times(device, frame.tensor(item), weights));
  });
  if (second != nullptr) add_product(l, bias ? 6 : 5, *second, out);
}

NPU_NODE(Kind::kKeptProducts, kept_products);
NPU_NODE(Kind::kItemProduct, item_product);

}  // namespace
}  // namespace npu::graph
