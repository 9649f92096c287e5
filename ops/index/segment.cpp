// SPDX-License-Identifier: Apache-2.0
// segment: slices of self that carry the same number in `index` become one slice of out. Each segment is worked on by
// one thread, slices in their order, so bits do not depend on the number of threads.
#include <limits>
#include <numeric>

#include "base/wrap.h"
#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

enum class Mode : int64_t { kSum = 1, kProduct = 2, kMaximum = 3, kMinimum = 4, kMean = 5 };

template <class T>
T combined(Mode mode, T a, T b) {
  switch (mode) {
    case Mode::kProduct: return wrap_multiply(a, b);
    case Mode::kMaximum: return a < b ? b : a;
    case Mode::kMinimum: return b < a ? b : a;
    default: return wrap_add(a, b);
  }
}

// The axes of index are the leading ones of self; out has one axis of segments in their place. A segment without
// slices is `empty`. Negative numbers are passed over, too large ones only with drop_beyond.
struct Segment final : Operator {
  Tensor self, index, out;
  int64_t reduction = 1;
  Scalar empty = Scalar(0);
  bool drop_beyond = false;
  DType slot = DType::kFloat;
  Rows rows, target;

  void prepare() override {
    require(reduction >= 1 && reduction <= 5,
            "reduction is {}; use 1 (add), 2 (multiply), 3 (max), 4 (min) or 5 (mean)", reduction);
    require(is_integer(index.dtype), "index is {}; it must hold integers", index);
    require(index.rank() <= self.rank() && out.rank() == self.rank() - index.rank() + 1,
            "self is {}, index is {}, out is {}: one axis of out takes the place of the index's", self, index, out);
    for (size_t i = 0; i < self.rank(); ++i) {
      const bool named = i < index.rank();
      require(self.shape[i] == (named ? index.shape[i] : out.shape[i - index.rank() + 1]),
              "self is {}, index is {}, out is {}: dimension {} of self does not fit", self, index, out, i);
    }
    slot = real_slot(self.dtype);
    rows = Rows(self, axes_from(index.rank(), self.rank()), slot);
    target = Rows(out, axes_from(1, out.rank()), slot);
  }
  void run() override {
    visit_real(slot, [this](auto t) { reduce(t); });
  }
  int64_t cost() const override { return 500 + 4 * self.count() + 8 * index.count(); }

 private:
  static std::vector<size_t> axes_from(size_t first, size_t rank) {
    std::vector<size_t> axes(rank - first);
    std::iota(axes.begin(), axes.end(), first);
    return axes;
  }
  /// Row numbers ordered by segment, and where each segment begins among them.
  struct Order {
    std::vector<int64_t> rows, begins;
  };
  // Counting sort: stable, so slices of a segment keep their order, which is the order of its sum.
  Order order() const {
    std::vector<int64_t> ids(static_cast<size_t>(index.count()));
    OrderedTensor(index, DType::kInt64).load(0, index.count(), ids.data());
    const int64_t segments = out.shape[0];
    Order found{{}, std::vector<int64_t>(static_cast<size_t>(segments) + 1)};
    int64_t kept = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      // TensorFlow's text, which its users know.
      require(ids[i] < segments || drop_beyond, "segment_ids[{}] = {} is out of range [0, {})", i, ids[i], segments);
      if (ids[i] >= segments) ids[i] = -1;
      if (ids[i] < 0) continue;
      ++kept;
      ++found.begins[static_cast<size_t>(ids[i]) + 1];
    }
    std::partial_sum(found.begins.begin(), found.begins.end(), found.begins.begin());
    found.rows.resize(static_cast<size_t>(kept));
    std::vector<int64_t> next = found.begins;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0) continue;
      int64_t& place = next[static_cast<size_t>(ids[i])];
      found.rows[static_cast<size_t>(place++)] = static_cast<int64_t>(i);
    }
    return found;
  }
  template <class T>
  void reduce(T) const {
    const Order sorted = order();
    const int64_t segments = out.shape[0], width = target.length();
    // Elements of a segment on average: parts are made of whole segments.
    const int64_t each = std::max<int64_t>(1, (self.count() + out.count()) / std::max<int64_t>(segments, 1));
    parallel_for(segments, std::max<int64_t>(1, (1 << 14) / each), [&](int64_t begin, int64_t end) {
      std::vector<T> sum(static_cast<size_t>(width)), buffer(sum.size());
      for (int64_t s = begin; s < end; ++s) {
        const auto first = static_cast<size_t>(sorted.begins[static_cast<size_t>(s)]);
        const auto last = static_cast<size_t>(sorted.begins[static_cast<size_t>(s) + 1]);
        gather_segment(std::span(sorted.rows).subspan(first, last - first), sum.data(), buffer.data());
        write(s, sum.data());
      }
    });
  }
  template <class T>
  void gather_segment(std::span<const int64_t> members, T* sum, T* buffer) const {
    const int64_t width = target.length();
    const auto mode = static_cast<Mode>(reduction);
    const T nothing = std::is_integral_v<T> ? static_cast<T>(empty.to_int()) : static_cast<T>(empty.to_double());
    // Only where nothing fell: a segment with slices starts from its first one, so no neutral number enters it.
    if (members.empty()) std::fill_n(sum, width, nothing);
    for (size_t i = 0; i < members.size(); ++i) {
      const auto* x = static_cast<const T*>(rows.load(members[i], buffer));
      // The first slice is taken as it is: -0 and NaN stay what they are.
      if (i == 0)
        std::copy_n(x, width, sum);
      else
        for (int64_t k = 0; k < width; ++k) sum[k] = combined(mode, sum[k], x[k]);
    }
    if (mode != Mode::kMean || members.empty()) return;
    for (int64_t k = 0; k < width; ++k) sum[k] /= static_cast<T>(members.size());
  }
  template <class T>
  void write(int64_t segment, const T* from) const {
    // A dense target takes the numbers straight; others are converted or strided on the way.
    if (!target.direct()) return target.store(segment, from);
    std::copy_n(from, target.length(), static_cast<T*>(target.target(segment, nullptr)));
  }
};

NPU_OPERATOR(Segment, "segment", "index", in<&Segment::self>("self"), in<&Segment::index>("index"),
             attr<&Segment::reduction>("reduction"), attr<&Segment::empty>("empty"),
             attr<&Segment::drop_beyond>("drop_beyond"), out<&Segment::out>("out"));

}  // namespace
}  // namespace npu::ops
