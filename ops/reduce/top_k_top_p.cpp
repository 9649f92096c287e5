// SPDX-License-Identifier: Apache-2.0
// Which logits of each row a sampler may choose from: those not below the k-th largest, and of these the fewest, from
// the largest on, whose probabilities come to more than p. All others become minus infinity. Equals of the k-th largest
// stay with it; the largest element always stays.
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/element.h"
#include "ops/vector/loop/along_dim.h"

namespace npu::ops {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

struct TopKTopP final : Operator {
  Tensor logits, p, k, out;

  void prepare() override {
    require(logits.rank() == 2, "logits is {}; it must be [batch, vocabulary]", logits);
    require(is_floating(logits.dtype) && logits.dtype != DType::kDouble,
            "logits is {}; use float32, float16 or bfloat16", logits);
    check_shape(out, "out", logits.shape);
    require(p.defined() || k.defined(), "neither p nor k is given; give at least one of them");
    require(!p.defined() || p.shape == Dims{logits.shape[0]}, "p is {}; it has one number for each row of logits ({})",
            p, logits);
    require(!k.defined() || (k.shape == Dims{logits.shape[0]} && is_integer(k.dtype)),
            "k is {}; it has one integer for each row of logits ({})", k, logits);
    from_ = Rows(logits, 1, DType::kFloat);
    to_ = Rows(out, 1, DType::kFloat);
  }
  void run() override {
    if (from_.length() == 0) return;
    check_counts();
    for_rows(from_, [this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) run_row(row);
    });
  }
  int64_t cost() const override { return 500 + 60 * logits.count(); }

 private:
  // They are on the device, so they are seen only here; before any row is written.
  void check_counts() const {
    for (int64_t row = 0; k.defined() && row < from_.count(); ++row) {
      const auto wanted = static_cast<int64_t>(load_element(k, row * k.strides[0]));
      require(wanted >= 1, "k[{}] is {}; it must be at least 1", row, wanted);
    }
  }
  int64_t kept_of(int64_t row) const {
    const int64_t n = from_.length();
    return k.defined() ? std::min(n, static_cast<int64_t>(load_element(k, row * k.strides[0]))) : n;
  }
  void run_row(int64_t row) const {
    const int64_t n = from_.length();
    const Scratch<float> buffer(n), made(n);
    const Scratch<int64_t> at(n);
    const auto* x = static_cast<const float*>(from_.load(row, buffer));
    int64_t* first = at.data();
    int64_t* last = first + n;
    std::iota(first, last, 0);
    // A NaN counts as larger than every number, and equals keep their order, as in a stable sort.
    const auto larger = [x](int64_t a, int64_t b) {
      if (less_nan_last(x[b], x[a])) return true;
      return !less_nan_last(x[a], x[b]) && a > b;
    };
    last = first_below(x, larger, first, last, kept_of(row));
    if (p.defined()) last = last_needed(x, larger, first, last, 1 - load_element(p, row * p.strides[0]));
    std::fill_n(made.data(), n, kLowest);
    for (const int64_t* i = first; i != last; ++i) made[*i] = x[*i];
    auto* y = static_cast<float*>(to_.target(row, buffer));
    std::copy_n(made.data(), n, y);
    to_.store(row, y);
  }
  // Positions of elements not below the kept-th largest come first; where they end.
  template <class Larger>
  static int64_t* first_below(const float* x, const Larger& larger, int64_t* first, int64_t* last, int64_t kept) {
    if (kept == last - first) return last;
    std::nth_element(first, first + (kept - 1), last, larger);
    const float threshold = x[first[kept - 1]];
    return std::partition(first + kept, last, [&](int64_t i) { return !(x[i] < threshold); });
  }
  // Sorted from the largest on; behind those that stay, the rest's probabilities sum to `spare` at most. Summed from
  // the smallest on, in double: the sum decides where the row is cut.
  template <class Larger>
  static int64_t* last_needed(const float* x, const Larger& larger, int64_t* first, int64_t* last, double spare) {
    std::sort(first, last, larger);
    const double top = x[*first];
    double whole = 0, sum = 0;
    for (const int64_t* i = last; i != first; --i) whole += std::exp(x[i[-1]] - top);
    while (last - first > 1) {
      sum += std::exp(x[last[-1]] - top) / whole;
      if (!(sum <= spare)) break;
      --last;
    }
    return last;
  }

  Rows from_, to_;
};

NPU_OPERATOR(TopKTopP, "top_k_top_p", "reduce", in<&TopKTopP::logits>("logits"), optional<&TopKTopP::p>("p"),
             optional<&TopKTopP::k>("k"), out<&TopKTopP::out>("out"));

}  // namespace
}  // namespace npu::ops
