// SPDX-License-Identifier: Apache-2.0
// search_sorted: where values belong in ascending rows. is_in: whether elements are among others. equal: whether two
// tensors hold the same. trace: the sum of a matrix's diagonal.
#include "ops/operator.h"
#include "ops/vector/elementwise/pointwise.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

/// The dtype both are compared in.
// double holds every float and every half; int64 must not go by way of it, which has no room beyond 2^53.
DType common_slot(const Operand& a, const Operand& b) {
  const Operand* both[] = {&a, &b};
  return slot_of(promote(both)) == DType::kInt64 || promote(both) == DType::kBool ? DType::kInt64 : DType::kDouble;
}

template <class T>
T number(const Scalar& s) {
  if constexpr (std::is_floating_point_v<T>)
    return s.to_double();
  else
    return s.to_int();
}

// sequence is one row for all, or has the leading dimensions of self. right: behind equal elements, else before them.
struct SearchSorted final : Operator {
  Tensor sequence, sorter, out;
  Operand self;
  bool right = false;
  DType slot = DType::kDouble;
  Rows rows, sorters, values, results;

  void prepare() override {
    require(sequence.rank() >= 1, "the sorted sequence is {}; it has at least one dimension", sequence);
    slot = common_slot({sequence, {}}, self);
    rows = Rows(sequence, sequence.rank() - 1, slot);
    if (sorter.defined()) {
      check_shape(sorter, "sorter", sequence.shape);
      sorters = Rows(sorter, sorter.rank() - 1, DType::kInt64);
    }
    std::vector<size_t> axes;  // of self and out that are searched in one row
    check_shape(out, "out", self.is_scalar() ? Dims() : self.tensor.shape);
    // A single sequence serves all values as one long row.
    const size_t first = sequence.rank() == 1 ? 0 : sequence.rank() - 1;
    for (size_t i = first; i < out.rank(); ++i) axes.push_back(i);
    if (sequence.rank() > 1) check_leading();
    if (!self.is_scalar()) values = Rows(self.tensor, axes, slot);
    results = Rows(out, axes, DType::kInt64);
  }
  void run() override {
    if (slot == DType::kDouble)
      search<double>();
    else
      search<int64_t>();
  }
  int64_t cost() const override { return 500 + 50 * out.count() + sequence.count(); }

 private:
  void check_leading() const {
    require(!self.is_scalar() && self.tensor.rank() == sequence.rank(),
            "sequence is {}; values need as many dimensions", sequence);
    for (size_t i = 0; i + 1 < sequence.rank(); ++i) {
      require(self.tensor.shape[i] == sequence.shape[i], "sequence is {}, values are {}: dimension {} differs",
              sequence, self.tensor, i);
    }
  }
  template <class T>
  void search() const {
    std::vector<T> row(static_cast<size_t>(rows.length())), sorted(row.size());
    std::vector<T> wanted(static_cast<size_t>(std::max<int64_t>(results.length(), 1)));
    std::vector<int64_t> order(row.size()), found(wanted.size());
    for (int64_t r = 0; r < results.count(); ++r) {
      const int64_t from = rows.count() == 1 ? 0 : r;
      const auto* sequence_row = static_cast<const T*>(rows.load(from, row.data()));
      if (sorter.defined()) {
        arrange(sequence_row, static_cast<const int64_t*>(sorters.load(from, order.data())), sorted.data());
        sequence_row = sorted.data();
      }
      wanted[0] = number<T>(self.scalar);
      const auto* v = self.is_scalar() ? wanted.data() : static_cast<const T*>(values.load(r, wanted.data()));
      auto* to = static_cast<int64_t*>(results.target(r, found.data()));
      // Threads share the values of a row, not rows: a single sequence is one row, however many are sought in it.
      parallel_for(results.length(), 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = place(sequence_row, v[i]);
      });
      results.store(r, to);
    }
  }
  template <class T>
  void arrange(const T* x, const int64_t* order, T* to) const {
    for (int64_t i = 0; i < rows.length(); ++i) {
      require(order[i] >= 0 && order[i] < rows.length(), "sorter holds {} at {}; positions are 0 to {}", order[i], i,
              rows.length() - 1);
      to[i] = x[order[i]];
    }
  }
  // Written with negated comparisons, so that a NaN goes to the end.
  template <class T>
  int64_t place(const T* x, T value) const {
    int64_t low = 0, high = rows.length();
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const bool behind = right ? !(x[middle] > value) : !(x[middle] >= value);
      if (behind)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

struct IsIn final : Operator {
  Operand elements, tests;
  Tensor out;
  bool invert = false;
  DType slot = DType::kDouble;

  void prepare() override {
    slot = common_slot(elements, tests);
    check_shape(out, "out", elements.is_scalar() ? Dims() : elements.tensor.shape);
    require(converter(DType::kBool, out.dtype) != nullptr, "out is {}; it is a bool tensor", out);
  }
  void run() override {
    if (slot == DType::kDouble)
      look<double>();
    else
      look<int64_t>();
  }
  int64_t cost() const override { return 500 + 50 * out.count(); }

 private:
  template <class T>
  std::vector<T> load(const Operand& operand) const {
    if (operand.is_scalar()) return {number<T>(operand.scalar)};
    std::vector<T> values(static_cast<size_t>(operand.tensor.count()));
    OrderedTensor(operand.tensor, slot).load(0, operand.tensor.count(), values.data());
    return values;
  }
  template <class T>
  void look() const {
    std::vector<T> known = load<T>(tests);
    // A NaN is in nothing, and would break the order that the binary search goes by.
    std::erase_if(known, [](T v) { return is_nan(v); });
    // Sorted once, then a binary search for each element: not every pair of both.
    std::sort(known.begin(), known.end());
    const std::vector<T> values = load<T>(elements);
    std::vector<int64_t> hits(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      hits[i] = (!is_nan(values[i]) && std::binary_search(known.begin(), known.end(), values[i])) != invert;
    }
    OrderedTensor(out, DType::kInt64).store(0, out.count(), hits.data());
  }
};

struct Equal final : Operator {
  Tensor self, other, out;
  void prepare() override {
    require(out.count() == 1 && out.dtype == DType::kBool, "out is {}; it is one bool", out);
    require(!is_complex(self.dtype) || self.dtype == other.dtype, "self is {}, other is {}; both have the same dtype",
            self, other);
  }
  void run() override {
    // Shapes that differ are an answer, not an error.
    *out.as<bool>() = self.shape == other.shape &&
                      (is_complex(self.dtype)                                  ? same<Complex128>(DType::kComplex128)
                       : common_slot({self, {}}, {other, {}}) == DType::kInt64 ? same<int64_t>(DType::kInt64)
                                                                               : same<double>(DType::kDouble));
  }
  int64_t cost() const override { return 200 + 2 * self.count(); }

 private:
  template <class T>
  bool same(DType slot) const {
    const OrderedTensor a(self, slot), b(other, slot);
    // In blocks, so that the first difference ends it.
    T x[512], y[512];
    for (int64_t at = 0; at < self.count(); at += 512) {
      const int64_t n = std::min<int64_t>(512, self.count() - at);
      a.load(at, n, x);
      b.load(at, n, y);
      // By value: 0 equals -0, and a tensor with a NaN does not equal itself, as in torch.
      if (!std::equal(x, x + n, y)) return false;
    }
    return true;
  }
};

struct Trace final : Operator {
  Tensor self, out;
  void prepare() override {
    require(self.rank() == 2, "self is {}; a trace needs a matrix", self);
    require(out.count() == 1, "out is {}; a trace is one number", out);
    // The diagonal is a vector: one step goes down and right at once.
    diagonal_ = self.view({std::min(self.shape[0], self.shape[1])}, {self.strides[0] + self.strides[1]});
  }
  void run() override {
    if (is_complex(self.dtype))
      add<Complex128>(DType::kComplex128);
    else if (is_floating(self.dtype))
      add<double>(DType::kDouble);
    else
      add<int64_t>(DType::kInt64);
  }
  int64_t cost() const override { return 200 + self.shape[0]; }

 private:
  template <class T>
  void add(DType slot) const {
    std::vector<T> values(static_cast<size_t>(diagonal_.count()));
    OrderedTensor(diagonal_, slot).load(0, diagonal_.count(), values.data());
    T total(0);
    for (const T& v : values) total += v;
    OrderedTensor(out, slot).store(0, 1, &total);
  }
  Tensor diagonal_;
};

NPU_OPERATOR(SearchSorted, "search_sorted", "reduce", in<&SearchSorted::sequence>("sequence"),
             in<&SearchSorted::self>("self"), attr<&SearchSorted::right>("right"),
             optional<&SearchSorted::sorter>("sorter"), out<&SearchSorted::out>("out"));
NPU_OPERATOR(IsIn, "is_in", "reduce", in<&IsIn::elements>("elements"), in<&IsIn::tests>("tests"),
             attr<&IsIn::invert>("invert"), out<&IsIn::out>("out"));
NPU_OPERATOR(Equal, "equal", "reduce", in<&Equal::self>("self"), in<&Equal::other>("other"), out<&Equal::out>("out"));
NPU_OPERATOR(Trace, "trace", "reduce", in<&Trace::self>("self"), out<&Trace::out>("out"));

}  // namespace
}  // namespace npu::ops
