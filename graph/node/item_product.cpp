// SPDX-License-Identifier: Apache-2.0
// Products of a list's elements with a matrix, computed for many elements at once. Nothing is computed before the first
// element is asked for, so a loop without turns, or one that ends early, meets no error that its body would not meet.
#include <optional>

#include "graph/frame.h"
#include "graph/lowering.h"
#include "graph/node/loop.h"
#include "graph/planner.h"
#include "graph/tensor_list.h"
#include "ops/call.h"

namespace npu::graph {
namespace {

constexpr int64_t kRowsAtOnce = 2048;  // a loop that ends early did at most this much in vain

bool same_tensor(const Value& a, const Value& b) {
  return a.owner == b.owner && a.tensor.bytes() == b.tensor.bytes() && a.tensor.shape == b.tensor.shape &&
         a.tensor.strides == b.tensor.strides;
}

/// Elements [begin, begin + count) as one matrix: where they are when they lie behind each other, else a copy.
Tensor stacked(int device, const TensorList& list, size_t begin, size_t count, Value& copy) {
  const Tensor& first = list.elements[begin].tensor;
  const auto bytes = first.count() * static_cast<int64_t>(size_of(first.dtype));
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

Value times(int device, const Tensor& rows, Tensor matrix, bool turned) {
  if (turned) std::swap(matrix.shape[0], matrix.shape[1]), std::swap(matrix.strides[0], matrix.strides[1]);
  Value out = make_value(device, rows.dtype, {rows.shape[0], matrix.shape[1]});
  ops::Call("matmul").set("self", rows).set("mat2", matrix).set("out", out.tensor).run();
  return out;
}

/// The products computed last, and whose they are.
class KeptProducts final : public Object {
 public:
  std::string traits() const override { return "products of elements"; }

  /// list[at] times `matrix`, which may be seen turned by `turned`.
  Value take(int device, const std::shared_ptr<const TensorList>& list, size_t at, const Value& matrix, bool turned) {
    // The list and the matrix held here are written to by nobody: their writers see that they are held.
    if (list_ == nullptr) list_ = list, matrix_ = matrix;
    stale_ = stale_ || list_ != list || !same_tensor(matrix_, matrix);
    if (stale_ || at < begin_ || at >= begin_ + products_.size()) multiply(device, *list, at, matrix, turned);
    last_ = at;
    return products_[at - begin_];
  }

 private:
  /// How many elements to multiply with this one: those that come next when elements are asked for in order.
  void multiply(int device, const TensorList& list, size_t at, const Value& matrix, bool turned) {
    const Tensor& element = list.elements[at].tensor;
    const auto most = static_cast<size_t>(std::max<int64_t>(1, kRowsAtOnce / std::max<int64_t>(1, element.shape[0])));
    const size_t count = list.elements.size();
    const auto alike = [&](size_t i) { return list.is_set(i) && list.elements[i].tensor.shape == element.shape; };
    const bool up = at == (last_ ? *last_ + 1 : 0), down = at + 1 == (last_ ? *last_ : count);
    size_t begin = at, end = at + 1;
    if (up && !stale_)
      while (end < count && end - at < most && alike(end)) ++end;
    else if (down && !stale_)
      while (begin > 0 && at - begin + 1 < most && alike(begin - 1)) --begin;
    Value copy;
    const Tensor rows = stacked(device, list, begin, end - begin, copy);
    const Value all = times(device, rows, matrix.tensor, turned);
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
  Value matrix_;
  bool stale_ = false;  ///< list or matrix changed from turn to turn: nothing is worth keeping
  std::optional<size_t> last_;
  size_t begin_ = 0;
  std::vector<Value> products_;  ///< of elements from begin_ on
};

void kept_products(Lowering& l) {
  const Planned out = l.object(0);
  l.run({out}, [out](Frame& frame) { frame.set(out, {{}, nullptr, std::make_shared<KeptProducts>()}); });
}

void item_product(Lowering& l) {
  const Planned matrix = l.input(1), list = l.input(2), index = l.input(3), kept = l.input(4);
  const bool turned = l.attributes().get_or<bool>("transpose_b", false);
  if (!list.list) throw Unfused{"the list is the client's"};
  const Dims &left = l.shape(0), &right = l.shape(1);
  if (left.size() != 2 || right.size() != 2 || left[1] != right[turned ? 1 : 0]) throw Unfused{"sizes do not fit"};
  if (left[0] * 2 > kRowsAtOnce) throw Unfused{"the product of one element is large enough"};
  if (l.dtype(0) != l.dtype(1)) throw Unfused{"the operands are of two types"};
  const Planned out = l.late(0, l.dtype(0), {left[0], right[turned ? 0 : 1]});
  l.keep(matrix);
  l.run({l.input(0), matrix, list, index, kept, out}, [=, item = l.input(0)](Frame& frame) {
    const auto elements = std::static_pointer_cast<const TensorList>(frame.value(list).object);
    const Tensor at = frame.tensor(index);
    const size_t position = elements->position(Scalar(at.bytes(), at.dtype).to_int());
    const Value weights = frame.value(matrix);
    const int device = frame.library().device();
    auto& products = static_cast<KeptProducts&>(*frame.value(kept).object);
    frame.set(out, elements->is_set(position) ? products.take(device, elements, position, weights, turned)
                                              : times(device, frame.tensor(item), weights.tensor, turned));
  });
}

NPU_NODE(kind::kKeptProducts, kept_products);
NPU_NODE(kind::kItemProduct, item_product);

}  // namespace
}  // namespace npu::graph
