// SPDX-License-Identifier: Apache-2.0
// randperm: a random order of 0 .. n-1. multinomial: indices drawn with the probabilities in the rows of self.
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/random/distribution.h"
#include "ops/random/random_fill.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {
namespace {

// Sorting by random 64-bit keys gives every order the same chance; equal keys keep their order.
struct Randperm final : RandomOperator {
  int64_t n = 0;
  Tensor out;
  OrderedTensor target;

  void prepare() override {
    prepare_state();
    require(n >= 0, "n is {}; the length of a permutation is not negative", n);
    require(out.rank() == 1 && out.count() == n, "out is {}; a permutation of {} needs shape {}", out, n, n);
    target = OrderedTensor(out, DType::kInt64);
  }
  void run() override {
    std::vector<uint64_t> keys(static_cast<size_t>(n));
    random_blocks(state(), n, 2, [&](int64_t first, int64_t count, const uint32_t* words) {
      // Two words a key, as they lie in memory.
      std::memcpy(keys.data() + first, words, static_cast<size_t>(count) * sizeof(uint64_t));
    });
    std::vector<int64_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)]; });
    target.store(0, n, order.data());
  }
  int64_t cost() const override { return 200 + 100 * n; }
};

struct Multinomial final : RandomOperator {
  Tensor self, out;
  int64_t num_samples = 1;
  bool replacement = false;
  Rows rows, target;

  void prepare() override {
    prepare_state();
    require(self.rank() == 1 || self.rank() == 2, "self is {}; probabilities have 1 or 2 dimensions", self);
    require(is_floating(self.dtype), "self is {}; probabilities need a floating dtype", self);
    const int64_t categories = self.shape.back();
    require(num_samples > 0, "num_samples is {}; draw at least one", num_samples);
    require(replacement || num_samples <= categories,
            "num_samples is {}, self has {} categories; drawing more needs replacement=true", num_samples, categories);
    Dims expected = self.shape;
    expected.back() = num_samples;
    require(out.shape == expected, "out is {}, expected {}", out, expected);
    rows = Rows(self, self.rank() - 1, DType::kDouble);
    target = Rows(out, out.rank() - 1, DType::kInt64);
  }
  void run() override {
    std::vector<double> buffer(static_cast<size_t>(rows.length()));
    std::vector<int64_t> drawn(static_cast<size_t>(num_samples));
    // Row by row: a bad row is found before its own result is written.
    for (int64_t row = 0; row < rows.count(); ++row) {
      const auto* p = static_cast<const double*>(rows.load(row, buffer.data()));
      check_row(p, row);
      auto* to = static_cast<int64_t*>(target.target(row, drawn.data()));
      if (replacement)
        draw_again(p, row, to);
      else
        draw_once(p, row, to);
      target.store(row, to);
    }
  }
  int64_t cost() const override { return 1000 + 50 * rows.count() * (rows.length() + num_samples); }

 private:
  // Data-dependent: found when the work runs.
  void check_row(const double* p, int64_t row) const {
    double sum = 0;
    for (int64_t i = 0; i < rows.length(); ++i) {
      require(p[i] >= 0 && std::isfinite(p[i]), "self[{}, {}] is {}; probabilities are finite and not negative", row, i,
              p[i]);
      sum += p[i];
    }
    require(sum > 0, "row {} of self sums to {}; at least one probability must be positive", row, sum);
  }
  std::vector<double> uniforms(int64_t first, int64_t n) const {
    std::vector<double> u(static_cast<size_t>(n));
    // Two numbers a block: a row that begins in the middle of one makes that block too, and drops its first number.
    std::vector<uint32_t> words(static_cast<size_t>((first % 2 + n + 1) / 2 * 4));
    philox(state(), static_cast<uint64_t>(first / 2), static_cast<int64_t>(words.size() / 4), words.data());
    uniform_doubles(words.data() + first % 2 * 2, n, 0, 1, u.data());
    return u;
  }
  void draw_again(const double* p, int64_t row, int64_t* to) const {
    std::vector<double> running(static_cast<size_t>(rows.length()));
    std::partial_sum(p, p + rows.length(), running.begin());
    // Numbers of a row follow from its place, not from what other rows drew.
    const std::vector<double> u = uniforms(row * num_samples, num_samples);
    for (size_t i = 0; i < u.size(); ++i) {
      // The last sum stands for everything above it: rounding may not lead past the end.
      to[i] = std::upper_bound(running.begin(), running.end() - 1, u[i] * running.back()) - running.begin();
      while (to[i] > 0 && p[to[i]] == 0) --to[i];  // rounding must not pick what cannot be drawn
    }
  }
  // The smallest exponential variables with rates p are a sample without replacement.
  void draw_once(const double* p, int64_t row, int64_t* to) const {
    const std::vector<double> u = uniforms(row * rows.length(), rows.length());
    std::vector<std::pair<double, int64_t>> times(u.size());
    for (size_t i = 0; i < u.size(); ++i) {
      // What cannot be drawn comes last of all. 1 - u is never 0.
      const double time = p[i] > 0 ? -std::log(1.0 - u[i]) / p[i] : std::numeric_limits<double>::infinity();
      times[i] = {time, static_cast<int64_t>(i)};
    }
    std::partial_sort(times.begin(), times.begin() + num_samples, times.end());
    for (int64_t i = 0; i < num_samples; ++i) to[i] = times[static_cast<size_t>(i)].second;
  }
};

NPU_OPERATOR(Randperm, "randperm", "random", attr<&Randperm::n>("n"), out<&Randperm::out>("out"),
             NPU_RANDOM_FIELDS(Randperm));
NPU_OPERATOR(Multinomial, "multinomial", "random", in<&Multinomial::self>("self"),
             attr<&Multinomial::num_samples>("num_samples"), attr<&Multinomial::replacement>("replacement"),
             out<&Multinomial::out>("out"), NPU_RANDOM_FIELDS(Multinomial));

}  // namespace
}  // namespace npu::ops
