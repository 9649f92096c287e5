// SPDX-License-Identifier: Apache-2.0
// Checks of elements, which are known only when the work runs: they write nothing and raise 161002 with `message`.
// Parts only collect bits, whose or has no order: what is raised does not depend on the number of threads.
#include <atomic>
#include <cmath>
#include <string>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {
namespace {

constexpr int64_t kBlock = 512;

/// What is found among the elements, as bits of `find(element)`.
template <class T, class F>
int bits_of(const Tensor& self, DType slot, F&& find) {
  const OrderedTensor elements(self, slot);
  std::atomic<int> bits{0};
  parallel_for(elements.count(), 1 << 15, [&](int64_t begin, int64_t end) {
    T block[kBlock];
    int found = 0;
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      elements.load(at, n, block);
      for (int64_t i = 0; i < n; ++i) found |= find(block[i]);
    }
    bits |= found;
  });
  return bits;
}

struct CheckIntegers final : Operator {
  Tensor self;
  bool refuse_zero = false, refuse_negative = false;
  std::string message;

  void prepare() override {
    require(is_integer(self.dtype) || self.dtype == DType::kBool, "self is {}; it must hold integers", self);
  }
  void run() override {
    const int bits =
        bits_of<int64_t>(self, DType::kInt64, [](int64_t x) { return (x == 0 ? 1 : 0) | (x < 0 ? 2 : 0); });
    require(!(refuse_zero && (bits & 1) != 0) && !(refuse_negative && (bits & 2) != 0), "{}", message);
  }
  int64_t cost() const override { return 100 + self.count(); }
};

struct CheckFinite final : Operator {
  Tensor self;
  std::string message;
  bool signs = false;  ///< tell infinities by their sign

  void prepare() override { require(is_floating(self.dtype), "self is {}; it must hold floating numbers", self); }
  void run() override {
    const int bits = bits_of<double>(self, DType::kDouble, [](double x) {
      return (x != x ? 1 : 0) | (x == -HUGE_VAL ? 2 : 0) | (x == HUGE_VAL ? 4 : 0);
    });
    require(bits == 0, "{} : Tensor had {} values", message, names(bits));
  }
  int64_t cost() const override { return 100 + self.count(); }

 private:
  std::string names(int bits) const {
    const bool nan = (bits & 1) != 0, infinite = (bits & 6) != 0;
    if (!signs) return infinite ? (nan ? "Inf and NaN" : "Inf") : "NaN";
    const std::string_view infinities = (bits & 6) == 6 ? "-Inf, +Inf" : ((bits & 2) != 0 ? "-Inf" : "+Inf");
    return infinite ? fmt::format("{}{}", infinities, nan ? ", and NaN" : "") : "NaN";
  }
};

NPU_OPERATOR(CheckIntegers, "check_integers", "math", in<&CheckIntegers::self>("self"),
             attr<&CheckIntegers::refuse_zero>("refuse_zero"), attr<&CheckIntegers::refuse_negative>("refuse_negative"),
             attr<&CheckIntegers::message>("message"));
NPU_OPERATOR(CheckFinite, "check_finite", "math", in<&CheckFinite::self>("self"),
             attr<&CheckFinite::message>("message"), attr<&CheckFinite::signs>("signs"));

}  // namespace
}  // namespace npu::ops
