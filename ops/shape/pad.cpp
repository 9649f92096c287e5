// SPDX-License-Identifier: Apache-2.0
// constant_pad: self inside, a number around it (negative padding cuts). reflection_pad and replication_pad fill the
// border of the last 1 to 3 dimensions from self; their gradients add up what came from the same element.
#include "ops/index/writing.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

// Raises 161002 when `before` or `after` (negative: to cut off) is beyond what 64 bits or the dimension hold.
int64_t padded_size(int64_t size, int64_t before, int64_t after) {
  int64_t sum = 0;
  const bool fits = !__builtin_add_overflow(size, before, &sum) && !__builtin_add_overflow(sum, after, &sum);
  require(fits && before >= -size && after >= -size, "padding {} and {} does not suit a dimension of size {}", before,
          after, size);
  return sum;
}

// padding: pairs (before, after), the last dimension first.
struct ConstantPad final : Operator {
  Tensor self, out;
  std::vector<int64_t> padding;
  Scalar value = Scalar(0);
  Move fill, inside;

  void prepare() override {
    require(padding.size() % 2 == 0 && padding.size() <= 2 * self.rank(),
            "pad has {} numbers, self is {}; give two per dimension, the last dimension first", padding.size(), self);
    Tensor from = self, to = out;
    Dims expected = self.shape;
    for (size_t i = 0; i < padding.size() / 2; ++i) {
      int64_t& size = expected[self.rank() - 1 - i];
      size = padded_size(size, padding[2 * i], padding[2 * i + 1]);
    }
    check_shape(out, "out", expected);
    for (size_t i = 0; i < padding.size() / 2; ++i) {
      const size_t axis = self.rank() - 1 - i;
      const int64_t before = padding[2 * i], after = padding[2 * i + 1];
      // Positive padding leaves a margin in out, negative padding leaves one in self.
      cut(from, axis, std::max<int64_t>(0, -before), std::max<int64_t>(0, -after));
      cut(to, axis, std::max<int64_t>(0, before), std::max<int64_t>(0, after));
    }
    // All of out is filled, then the inside written over: the border alone would be up to two pieces for every
    // dimension.
    fill.plan(Operand{.tensor = {}, .scalar = value}, out);
    inside.plan(from, to);
  }
  void run() override {
    fill.run();
    inside.run();
  }
  int64_t cost() const override { return fill.cost() + inside.cost(); }

 private:
  static void cut(Tensor& view, size_t axis, int64_t before, int64_t after) {
    view.offset += before * view.strides[axis];
    view.shape[axis] = std::max<int64_t>(0, view.shape[axis] - before - after);
  }
};

// The edge itself is not repeated. Padding is smaller than the dimension, so that one reflection is enough.
int64_t reflected(int64_t at, int64_t size) {
  if (at < 0) at = -at;
  return at < size ? at : 2 * (size - 1) - at;
}

/// The offsets into the padded dimensions of `inner` (one per position of `shape`), by mirroring or by clamping.
std::vector<int64_t> border_offsets(const Tensor& inner, const Dims& shape, const std::vector<int64_t>& padding,
                                    bool mirror) {
  std::vector<int64_t> offsets(static_cast<size_t>(count_of(shape)));
  const size_t first = inner.rank() - shape.size();
  for (size_t k = 0; k < offsets.size(); ++k) {
    auto rest = static_cast<int64_t>(k);
    for (size_t i = 0; i < shape.size(); ++i) {  // the last dimension first, as in padding
      const size_t axis = shape.size() - 1 - i;
      const int64_t size = inner.shape[first + axis];
      const int64_t at = rest % shape[axis] - padding[2 * i];
      rest /= shape[axis];
      offsets[k] += (mirror ? reflected(at, size) : std::clamp<int64_t>(at, 0, size - 1)) * inner.strides[first + axis];
    }
  }
  return offsets;
}

/// Checks `padding` and gives the padded sizes of the last dimensions.
Dims padded_dims(const Tensor& self, const std::vector<int64_t>& padding, bool mirror) {
  const size_t dims = padding.size() / 2;
  require(padding.size() % 2 == 0 && dims >= 1 && dims < self.rank() + 1,
          "padding has {} numbers, self is {}; give two per padded dimension", padding.size(), self);
  Dims sizes;
  for (size_t axis = self.rank() - dims; axis < self.rank(); ++axis) {
    const size_t i = self.rank() - 1 - axis;
    const int64_t before = padding[2 * i], after = padding[2 * i + 1], size = self.shape[axis];
    const int64_t padded = padded_size(size, before, after);
    require(size > 0 && padded > 0, "padding {} and {} of dimension {} of self ({}) leaves nothing", before, after,
            axis, self);
    require(!mirror || (before < size && after < size),
            "padding {} and {} of dimension {} of self ({}) must be smaller than {} to be mirrored", before, after,
            axis, self, size);
    sizes.push_back(padded);
  }
  return sizes;
}

/// `inner` as the loop over the padded sizes sees it.
Tensor bordered(const Tensor& inner, const Dims& sizes) {
  Tensor view = inner;
  for (size_t i = 0; i < sizes.size(); ++i) {
    view.shape[inner.rank() - sizes.size() + i] = sizes[i];
    // Stride 0: where in a padded dimension a position lies, the table of offsets says.
    view.strides[inner.rank() - sizes.size() + i] = 0;
  }
  return view;
}

template <bool kMirror>
// Where a padded position comes from depends on the last dimensions only: one table, made in phase 1, serves all
// planes, and backwards it tells where gradients go.
struct BorderPad final : Operator {
  Tensor self, out;
  std::vector<int64_t> padding, offsets;
  IndexedMove move;

  void prepare() override {
    const Dims sizes = padded_dims(self, padding, kMirror);
    const Tensor view = bordered(self, sizes);
    check_shape(out, "out", view.shape);
    offsets = border_offsets(self, sizes, padding, kMirror);
    move.plan(IndexedMode::kGather, out, view, sizes, self.rank() - sizes.size());
  }
  void run() override { move.run(offsets); }
  int64_t cost() const override { return move.cost(); }
};

template <bool kMirror>
struct BorderPadBackward final : Writing {
  Tensor grad;
  std::vector<int64_t> padding, table;

  void prepare() override {
    check_shape(out, "grad_input", self.shape);
    // Halves are added up in float32 and rounded once.
    const Tensor& target = begin_with(Scalar(0), sum_buffer(out.dtype));
    const Dims sizes = padded_dims(target, padding, kMirror);
    const Tensor view = bordered(target, sizes);
    check_shape(grad, "grad_output", view.shape);
    table = border_offsets(target, sizes, padding, kMirror);
    move.plan(IndexedMode::kAdd, grad, view, sizes, self.rank() - sizes.size());
  }

 private:
  std::vector<int64_t> positions() const override { return table; }
};

using ReflectionPad = BorderPad<true>;
using ReplicationPad = BorderPad<false>;
using ReflectionPadBackward = BorderPadBackward<true>;
using ReplicationPadBackward = BorderPadBackward<false>;

#define NPU_PAD_FIELDS(type) in<&type::self>("self"), attr<&type::padding>("padding"), out<&type::out>("out")
NPU_OPERATOR(ConstantPad, "constant_pad", "shape", NPU_PAD_FIELDS(ConstantPad), attr<&ConstantPad::value>("value"))
    .is(kMovesBits);
NPU_OPERATOR(ReflectionPad, "reflection_pad", "shape", NPU_PAD_FIELDS(ReflectionPad)).is(kMovesBits);
NPU_OPERATOR(ReplicationPad, "replication_pad", "shape", NPU_PAD_FIELDS(ReplicationPad)).is(kMovesBits);
NPU_OPERATOR(ReflectionPadBackward, "reflection_pad_backward", "shape", in<&ReflectionPadBackward::grad>("grad"),
             NPU_PAD_FIELDS(ReflectionPadBackward));
NPU_OPERATOR(ReplicationPadBackward, "replication_pad_backward", "shape", in<&ReplicationPadBackward::grad>("grad"),
             NPU_PAD_FIELDS(ReplicationPadBackward));

}  // namespace
}  // namespace npu::ops
