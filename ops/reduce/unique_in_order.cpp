// SPDX-License-Identifier: Apache-2.0
// unique_in_order: the different elements in the order of their first appearance; where each input went (inverse) and
// how many they were (counts). y and counts get their final shape when the work runs. A NaN is equal to nothing.
#include <unordered_map>

#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"
#include "ops/vector/loop/told_shape.h"

namespace npu::ops {
namespace {

struct UniqueInOrder final : Operator {
  Tensor self, y, inverse, counts;
  DType slot = DType::kFloat;

  void prepare() override {
    slot = real_slot(self.dtype);
    require(y.dtype == self.dtype && y.contiguous(), "y is {}; it is a contiguous tensor of {}", y, self.dtype);
    require(inverse.count() == self.count() && is_integer(inverse.dtype),
            "inverse is {}; it holds an integer for each element of {}", inverse, self);
    require(!counts.defined() || (is_integer(counts.dtype) && counts.contiguous()),
            "counts is {}; it is a contiguous tensor of integers", counts);
  }
  void run() override {
    visit_real(slot, [this](auto t) { find(t); });
  }
  int64_t cost() const override { return 1000 + 50 * self.count(); }

 private:
  template <class T>
  void find(T) const {
    const auto n = static_cast<size_t>(self.count());
    std::vector<T> values(n), found;
    std::vector<int64_t> places(n), sizes;
    OrderedTensor(self, slot).load(0, self.count(), values.data());
    // TensorFlow's Unique keeps the order of appearance, which sorting would lose. The map only answers, it is never
    // walked: its order is not the result's.
    std::unordered_map<T, int64_t> seen(2 * n);
    for (size_t i = 0; i < n; ++i) {
      const auto [at, added] = seen.emplace(values[i], static_cast<int64_t>(found.size()));
      if (added) found.push_back(values[i]);
      if (added) sizes.push_back(0);
      places[i] = at->second;
      ++sizes[static_cast<size_t>(at->second)];
    }
    const Dims shape{static_cast<int64_t>(found.size())};
    check_room(y, "y", shape);
    if (counts.defined()) check_room(counts, "counts", shape);
    OrderedTensor(inverse, DType::kInt64).store(0, self.count(), places.data());
    write(y, slot, found);
    if (counts.defined()) write(counts, DType::kInt64, sizes);
  }
  template <class T>
  static void write(const Tensor& to, DType slot, const std::vector<T>& values) {
    const Dims shape{static_cast<int64_t>(values.size())};
    OrderedTensor(make_tensor(to.bytes(), to.dtype, shape), slot).store(0, shape[0], values.data());
    set_shape(to, shape);
  }
};

NPU_OPERATOR(UniqueInOrder, "unique_in_order", "reduce", in<&UniqueInOrder::self>("self"), out<&UniqueInOrder::y>("y"),
             out<&UniqueInOrder::inverse>("inverse"), optional_out<&UniqueInOrder::counts>("counts"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
