// SPDX-License-Identifier: Apache-2.0
// counter_seed, counter_permutation, counter_multinomial: TensorFlow's way from seeds to a key and a counter, its order
// of shuffled rows and its samples of classes.
#include <cmath>
#include <numeric>

#include "ops/random/counter.h"
#include "ops/random/words.h"

namespace npu::ops {
namespace {

/// Two seeds, scrambled so that small and similar ones give unlike streams.
struct CounterSeed final : Operator {
  Tensor seed, key, counter;
  OrderedTensor seeds;

  void prepare() override {
    require(seed.rank() == 1 && seed.count() == 2 && is_integer(seed.dtype), "seed is {}; it is two integers", seed);
    require(key.dtype == DType::kUInt64 && key.count() == 1 && counter.dtype == DType::kUInt64 && counter.rank() == 1 &&
                counter.count() == 2,
            "key is {}, counter is {}; they are one and two uint64", key, counter);
    seeds = OrderedTensor(seed, DType::kInt64);
  }
  void run() override {
    uint64_t given[2];
    seeds.load(0, 2, given);
    // TensorFlow's own constant: its key and counter of two seeds are these words.
    uint32_t words[4];
    philox(RandomCounter{given[0], given[1], 0x02461e293ec8f720}, 1, words);
    *key.as<uint64_t>() = words[0] | uint64_t{words[1]} << 32;
    counter.as<uint64_t>()[0] = 0;
    counter.as<uint64_t>()[counter.strides[0]] = words[2] | uint64_t{words[3]} << 32;
  }
  int64_t cost() const override { return 200; }
};

/// out: the numbers 0 … n - 1 in random order.
struct CounterPermutation final : CounterOperator {
  OrderedTensor target;
  std::vector<int64_t> order;

  void prepare() override {
    prepare_counter();
    require(out.rank() == 1 && is_integer(out.dtype), "out is {}; it is a vector of integers", out);
    target = OrderedTensor(out, DType::kInt64);
    order.resize(static_cast<size_t>(out.count()));
  }
  void run() override {
    Words words(start());
    std::iota(order.begin(), order.end(), int64_t{0});
    // TensorFlow's shuffle: it draws with a modulo, whose small bias belongs to its bits.
    for (size_t i = 0; i + 1 < order.size(); ++i)
      std::swap(order[i], order[i + words() % static_cast<uint32_t>(order.size() - i)]);
    target.store(0, out.count(), order.data());
  }
};

/// Each row of out: classes drawn with the probabilities of which the row of `logits` holds the logarithms.
struct CounterMultinomial final : CounterOperator {
  Tensor logits;
  OrderedTensor source, target;
  std::vector<double> row, sums;
  std::vector<int64_t> samples;

  void prepare() override {
    prepare_counter();
    require(logits.rank() == 2 && is_floating(logits.dtype) && logits.shape[1] > 0,
            "logits are {}; they are a matrix of floating numbers with at least one class", logits);
    require(out.rank() == 2 && out.shape[0] == logits.shape[0] && is_integer(out.dtype),
            "out is {}; it has a row of integers for each row of logits", out);
    source = OrderedTensor(logits, DType::kDouble);
    target = OrderedTensor(out, DType::kInt64);
    row.resize(static_cast<size_t>(logits.shape[1]));
    sums.resize(row.size());
    samples.resize(static_cast<size_t>(out.shape[1]));
  }
  void run() override {
    // One stream for all rows, in order: a sample's words depend on how many came before it, so rows are not shared
    // out.
    Words words(start());
    for (int64_t b = 0; b < logits.shape[0] && !samples.empty(); ++b) {
      source.load(b * logits.shape[1], logits.shape[1], row.data());
      const double total = add_up();
      for (int64_t& sample : samples) {
        // Two words a sample, whatever the dtype of the logits.
        const uint32_t first = words(), second = words();
        sample = std::upper_bound(sums.begin(), sums.end(), unit_double(first, second) * total) - sums.begin();
      }
      target.store(b * out.shape[1], out.shape[1], samples.data());
    }
  }

 private:
  /// Running sums of the probabilities, not normalised; infinite and NaN logits count nothing.
  double add_up() {
    double most = std::numeric_limits<double>::lowest(), total = 0;
    for (const double x : row)
      if (std::isfinite(x)) most = std::max(most, x);
    for (size_t i = 0; i < row.size(); ++i) {
      // The largest logit off, so that no exponential overflows.
      if (std::isfinite(row[i])) total += std::exp(row[i] - most);
      sums[i] = total;
    }
    return total;
  }
};

NPU_OPERATOR(CounterSeed, "counter_seed", "random", in<&CounterSeed::seed>("seed"), out<&CounterSeed::key>("key"),
             out<&CounterSeed::counter>("counter"));
NPU_OPERATOR(CounterPermutation, "counter_permutation", "random", NPU_COUNTER_FIELDS(CounterPermutation));
NPU_OPERATOR(CounterMultinomial, "counter_multinomial", "random", in<&CounterMultinomial::logits>("logits"),
             NPU_COUNTER_FIELDS(CounterMultinomial));

}  // namespace
}  // namespace npu::ops
