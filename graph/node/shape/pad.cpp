// SPDX-License-Identifier: Apache-2.0
// Tensors with a border: of one number, or of what they mirror.
#include "graph/node/array.h"

namespace npu::graph {
namespace {

/// Elements before and after, by axis.
struct Border {
  int64_t before, after;
};

std::vector<Border> borders(const Lowering& l) {
  const std::vector<int64_t> numbers = l.integers(1);
  require(l.shape(1).size() == 2 && l.shape(1)[1] == 2, "paddings must be a matrix with 2 columns: {}", l.shape(1));
  std::vector<Border> out;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    require(numbers[i] >= 0 && numbers[i + 1] >= 0, "Paddings must be non-negative: {} {}", numbers[i], numbers[i + 1]);
    out.push_back({numbers[i], numbers[i + 1]});
  }
  require(out.size() == l.shape(0).size(), "The first dimension of paddings must be the rank of inputs: {}, {}",
          l.shape(1), l.shape(0));
  return out;
}

Planned inside(Planned whole, const std::vector<Border>& border) {
  for (size_t i = 0; i < border.size(); ++i)
    whole = narrowed(whole, i, border[i].before, whole.shape()[i] - border[i].before - border[i].after);
  return whole;
}

Dims padded(Dims shape, const std::vector<Border>& border) {
  for (size_t i = 0; i < border.size(); ++i) shape[i] += border[i].before + border[i].after;
  return shape;
}

void pad(Lowering& l) {
  decline_objects(l);
  const std::vector<Border> border = borders(l);
  const Planned out = l.make(0, l.dtype(0), padded(l.shape(0), border));
  if (l.input_count() == 3)
    copy(l, expanded(restrided(l.input(2), {}, {}), out.shape()), out);
  else
    fill(l, out, Scalar(0));
  if (l.input(0).view.count() > 0) copy(l, l.input(0), inside(out, border));
}

/// One side of a mirrored axis: where the border lies and what it mirrors, both over the whole tensor.
struct Mirror {
  int64_t border, source, size;
};

std::vector<Mirror> mirrors(const Border& border, int64_t inner, bool symmetric) {
  const int64_t skip = symmetric ? 0 : 1;  // the edge itself is not repeated
  require(border.before <= inner - skip && border.after <= inner - skip,
          "paddings must be {} than the dimension size: {}, {} not {} than {}", symmetric ? "no greater" : "less",
          border.before, border.after, symmetric ? "no greater" : "less", inner);
  std::vector<Mirror> out;
  if (border.before > 0) out.push_back({0, border.before + skip, border.before});
  const int64_t end = border.before + inner;
  if (border.after > 0) out.push_back({end, end - skip - border.after, border.after});
  return out;
}

bool is_symmetric(const Lowering& l) { return l.attributes().get<std::string>("mode") == "SYMMETRIC"; }

/// Axis by axis: what is there already is mirrored, corners included.
void mirror_pad(Lowering& l) {
  decline_objects(l);
  const std::vector<Border> border = borders(l);
  const Dims inner = l.shape(0);
  const Planned out = l.make(0, l.dtype(0), padded(inner, border));
  copy(l, l.input(0), inside(out, border));
  std::vector<Border> open = border;  // borders not written yet
  for (size_t axis = 0; axis < border.size(); ++axis) {
    open[axis] = {0, 0};
    const Planned done = inside(out, open);
    for (const Mirror& m : mirrors(border[axis], inner[axis], is_symmetric(l)))
      copy(l, narrowed(done, axis, m.source, m.size), reversed(narrowed(done, axis, m.border, m.size), axis));
  }
}

/// The reverse: gradients of the borders are added to what they mirrored, the last axis first; halves in float32, so
/// that they are rounded once.
void mirror_pad_grad(Lowering& l) {
  const std::vector<Border> border = borders(l);
  const DType slot = is_floating(l.dtype(0)) && size_of(l.dtype(0)) == 2 ? DType::kFloat : l.dtype(0);
  const Planned sum = l.scratch(slot, l.shape(0));
  copy(l, l.input(0), sum);
  std::vector<Border> open(border.size(), Border{0, 0});
  for (size_t axis = border.size(); axis-- > 0;) {
    const Planned left = inside(sum, open);
    const int64_t inner = left.shape()[axis] - border[axis].before - border[axis].after;
    for (const Mirror& m : mirrors(border[axis], inner, is_symmetric(l))) {
      const Planned turned = l.scratch(slot, narrowed(left, axis, m.border, m.size).shape());
      copy(l, narrowed(left, axis, m.border, m.size), reversed(turned, axis));
      const Planned to = narrowed(left, axis, m.source, m.size);
      l.call("add").set("self", to).set("other", turned).set("out", to);
    }
    open[axis] = border[axis];
  }
  const Planned rest = inside(sum, open);
  copy(l, rest, l.make(0, l.dtype(0), rest.shape()));
}

NPU_NODE("Pad", pad);
NPU_NODE("PadV2", pad);
NPU_NODE("MirrorPad", mirror_pad);
NPU_NODE("MirrorPadGrad", mirror_pad_grad);

}  // namespace
}  // namespace npu::graph
