// SPDX-License-Identifier: Apache-2.0
// bincount: how often each whole number occurs, or the sum of its weights. histc: elements in bins of equal width.
#include <cmath>

#include "ops/operator.h"
#include "ops/vector/loop/along_dim.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

struct Bincount final : Operator {
  Tensor self, weight, out;
  int64_t minlength = 0;

  void prepare() override {
    require(self.rank() == 1 && is_integer(self.dtype), "self is {}; counting needs an integer tensor of one dimension",
            self);
    require(minlength >= 0, "minlength is {}; minlength should be >= 0", minlength);
    require(out.rank() == 1 && out.count() >= minlength, "out is {}, minlength is {}", out, minlength);
    require(!weight.defined() || weight.shape == self.shape, "weight is {}, self is {}; both have the same shape",
            weight, self);
  }
  void run() override {
    std::vector<int64_t> values(static_cast<size_t>(self.count()));
    OrderedTensor(self, DType::kInt64).load(0, self.count(), values.data());
    // Counts are sums of ones: exact in double up to 2^53.
    std::vector<double> weights(values.size(), 1.0), sums(static_cast<size_t>(out.count()));
    if (weight.defined()) OrderedTensor(weight, DType::kDouble).load(0, weight.count(), weights.data());
    // In one thread: weights that fall on one number are added in the order of self, so sums are the same every time.
    for (size_t i = 0; i < values.size(); ++i) {
      // What self holds is seen only now; out has the size that the client gave it.
      require(values[i] >= 0 && values[i] < out.count(), "self[{}] is {}; out counts 0 to {}", i, values[i],
              out.count() - 1);
      sums[static_cast<size_t>(values[i])] += weights[i];
    }
    OrderedTensor(out, DType::kDouble).store(0, out.count(), sums.data());
  }
  int64_t cost() const override { return 500 + 3 * self.count(); }
};

// min = max means: from the smallest to the largest element. What lies outside, and NaN, is not counted.
struct Histc final : Operator {
  Tensor self, out;
  int64_t bins = 100;
  double min = 0, max = 0;

  void prepare() override {
    require(bins > 0 && out.rank() == 1 && out.count() == bins, "bins is {}, out is {}", bins, out);
    require(!is_complex(self.dtype), "self is {}; a histogram needs a real dtype", self);
    require(min <= max, "min is {}, max is {}; min must not be above max", min, max);
  }
  void run() override {
    std::vector<double> x(static_cast<size_t>(self.count()));
    OrderedTensor(self, DType::kDouble).load(0, self.count(), x.data());
    double low = min, high = max;
    if (low == high && !x.empty()) {
      low = *std::min_element(x.begin(), x.end());
      high = *std::max_element(x.begin(), x.end());
    }
    if (low == high) {
      // All elements equal: a range of width 2 around them, as torch has it.
      low -= 1;
      high += 1;
    }
    require(std::isfinite(low) && std::isfinite(high), "the range {} to {} is not finite; give min and max", low, high);
    std::vector<double> counts(static_cast<size_t>(bins));
    for (const double v : x) {
      if (v >= low && v <= high) ++counts[bin_of(v, low, high)];
    }
    OrderedTensor(out, DType::kDouble).store(0, bins, counts.data());
  }
  int64_t cost() const override { return 500 + 5 * self.count(); }

 private:
  size_t bin_of(double v, double low, double high) const {
    const auto at = static_cast<int64_t>((v - low) * static_cast<double>(bins) / (high - low));
    // The last bin takes in its upper end, which the division puts one further.
    return static_cast<size_t>(std::clamp<int64_t>(at, 0, bins - 1));
  }
};

NPU_OPERATOR(Bincount, "bincount", "reduce", in<&Bincount::self>("self"), optional<&Bincount::weight>("weight"),
             attr<&Bincount::minlength>("minlength"), out<&Bincount::out>("out"));
NPU_OPERATOR(Histc, "histc", "reduce", in<&Histc::self>("self"), attr<&Histc::bins>("bins"), attr<&Histc::min>("min"),
             attr<&Histc::max>("max"), out<&Histc::out>("out"));

}  // namespace
}  // namespace npu::ops
