// SPDX-License-Identifier: Apache-2.0
// unique: the different elements (or slices along dim) in ascending order, or with runs of equal ones joined
// (consecutive); where each input went (inverse) and how many they were (counts). y and counts get their final shape
// when the work runs. A NaN is equal to nothing.
#include <numeric>

#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"
#include "ops/vector/loop/told_shape.h"

namespace npu::ops {
namespace {

constexpr int64_t kFlat = 1000;  // what the client passes as dim to mean "all elements"

struct Unique final : Operator {
  Tensor self, y, inverse, counts;
  int64_t dim = kFlat;
  bool consecutive = false;
  DType slot = DType::kFloat;
  size_t axis = 0;
  int64_t items = 0;   ///< elements or slices
  int64_t length = 1;  ///< elements of one item

  void prepare() override {
    slot = real_slot(self.dtype);
    // How many there will be is known only after the work: the run checks that y and counts have room.
    require(y.defined() && y.dtype == self.dtype && y.contiguous(), "y is {}; it is a contiguous tensor of {}", y,
            self.dtype);
    axis = dim == kFlat ? 0 : wrap_dim(dim, self.rank());
    items = dim == kFlat ? self.count() : self.shape[axis];
    length = dim == kFlat ? 1 : self.count() / std::max<int64_t>(items, 1);
    check_positions(inverse, "inverse", items);
    check_positions(counts, "counts", 0);
  }
  void run() override {
    visit_real(slot, [this](auto t) { find(t); });
  }
  int64_t cost() const override { return 1000 + 100 * self.count(); }

 private:
  static void check_positions(const Tensor& t, const char* name, int64_t least) {
    require(!wanted(t) || (t.dtype == DType::kInt64 && t.contiguous() && t.count() >= least),
            "{} is {}; it is a contiguous int64 tensor of at least {} elements", name, t, least);
  }
  static bool wanted(const Tensor& t) { return t.defined() && t.count() > 0; }
  std::vector<size_t> other_axes() const {
    std::vector<size_t> axes;
    for (size_t i = 0; i < self.rank(); ++i) {
      if (i != axis) axes.push_back(i);
    }
    return axes;
  }
  template <class T>
  std::vector<T> load() const {
    // A copy of all: items are compared many times, so they lie side by side in one type.
    std::vector<T> values(static_cast<size_t>(self.count()));
    if (dim == kFlat) {
      OrderedTensor(self, slot).load(0, self.count(), values.data());
      return values;
    }
    const Rows rows(self, other_axes(), slot);
    for (int64_t i = 0; i < items; ++i) {
      T* to = values.data() + i * length;
      const auto* from = static_cast<const T*>(rows.load(i, to));
      if (from != to) std::copy_n(from, length, to);
    }
    return values;
  }
  template <class T>
  void find(T) const {
    const std::vector<T> values = load<T>();
    const auto at = [&](int64_t item) { return values.data() + item * length; };
    std::vector<int64_t> order(static_cast<size_t>(items));
    std::iota(order.begin(), order.end(), 0);
    // Slices are ordered like words; an element is a word of one letter.
    const auto before = [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(at(a), at(a) + length, at(b), at(b) + length, less_nan_last<T>);
    };
    // Positions are sorted, not items: a slice may be long, and the positions say where each input went. Stable, so
    // that the first of equal slices stands for them.
    if (!consecutive) std::stable_sort(order.begin(), order.end(), before);
    std::vector<int64_t> firsts, sizes;
    for (size_t i = 0; i < order.size(); ++i) {
      // Against the item before, in sorted order: equal ones are neighbours, and NaNs, equal to nothing, stay apart.
      const bool same = i > 0 && std::equal(at(order[i]), at(order[i]) + length, at(order[i - 1]));
      if (!same) firsts.push_back(order[i]);
      if (!same) sizes.push_back(0);
      ++sizes.back();
      // Through `order`: sorted or not, each input is told by where it stood.
      if (wanted(inverse)) inverse.as<int64_t>()[order[i]] = static_cast<int64_t>(firsts.size()) - 1;
    }
    if (wanted(counts)) check_room(counts, "counts", {static_cast<int64_t>(sizes.size())});
    write(values, firsts);
    if (!wanted(counts)) return;
    std::copy(sizes.begin(), sizes.end(), counts.as<int64_t>());
    set_shape(counts, {static_cast<int64_t>(sizes.size())});
  }
  // The result lies row-major at the start of y.
  template <class T>
  void write(const std::vector<T>& values, const std::vector<int64_t>& firsts) const {
    const auto found = static_cast<int64_t>(firsts.size());
    Dims shape = dim == kFlat ? Dims{found} : self.shape;
    if (dim != kFlat) shape[axis] = found;
    check_room(y, "y", shape);
    const Tensor result = make_tensor(y.bytes(), y.dtype, shape);
    const Rows rows(result, dim == kFlat ? std::vector<size_t>{} : other_axes(), slot);
    std::vector<T> buffer(static_cast<size_t>(length));
    for (int64_t i = 0; i < found; ++i) {
      T* to = static_cast<T*>(rows.target(i, buffer.data()));
      std::copy_n(values.data() + firsts[static_cast<size_t>(i)] * length, length, to);
      rows.store(i, to);
    }
    set_shape(y, shape);
  }
};

NPU_OPERATOR(Unique, "unique", "reduce", in<&Unique::self>("self"), attr<&Unique::dim>("dim"),
             attr<&Unique::consecutive>("consecutive"), out<&Unique::y>("y"), optional_out<&Unique::inverse>("inverse"),
             optional_out<&Unique::counts>("counts"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
