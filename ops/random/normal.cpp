// SPDX-License-Identifier: Apache-2.0
// normal: out gets normal numbers; mean and std are numbers or tensors that broadcast to out.
#include <numbers>

#include "ops/random/distribution.h"
#include "ops/random/random_fill.h"

namespace npu::ops {
namespace {

struct Normal final : RandomOperator {
  Operand mean;
  Operand std;
  Tensor out;
  double spread = 1;  ///< of a part, in multiples of std
  DType slot = DType::kFloat;
  OrderedTensor target, means, stds;

  void prepare() override {
    prepare_state();
    const Tensor parts = drawn_parts(out);
    require(is_floating(parts.dtype), "out is {}; normal numbers need a floating or complex dtype", out);
    require(!is_complex(out.dtype) || (mean.is_scalar() && std.is_scalar()),
            "out is {}; give mean and std of complex numbers as numbers, not as tensors", out);
    require(!std.is_scalar() || std.scalar.to_double() >= 0, "std is {}; it must not be negative",
            std.scalar.to_double());
    // The variance of a complex number is the sum of those of its two parts.
    spread = is_complex(out.dtype) ? std::numbers::sqrt2 / 2 : 1;
    slot = random_slot(parts.dtype);
    target = OrderedTensor(parts, slot);
    if (!mean.is_scalar()) means = OrderedTensor(mean.tensor.expanded(out.shape), slot);
    if (!std.is_scalar()) stds = OrderedTensor(std.tensor.expanded(out.shape), slot);
  }
  void run() override {
    if (slot == DType::kDouble)
      draw<double>(&normal_doubles);
    else
      draw<float>(&normal_floats);
  }
  int64_t cost() const override { return 200 + 4 * target.count(); }

 private:
  template <class T>
  void draw(void (*make)(const uint32_t*, int64_t, T*)) const {
    constexpr int64_t kWords = sizeof(T) / 4;
    const auto mean_value = static_cast<T>(mean.scalar.to_double());
    const auto std_value = static_cast<T>(std.scalar.to_double() * spread);
    random_blocks(state(), target.count(), kWords, [&](int64_t first, int64_t n, const uint32_t* words) {
      T values[kRandomBlock], m[kRandomBlock], s[kRandomBlock];  // NOLINT: filled below
      // In pairs: of an odd number the last pair's second one is dropped.
      make(words, (n + 1) / 2 * 2, values);
      if (means.defined())
        means.load(first, n, m);
      else
        std::fill_n(m, n, mean_value);
      if (stds.defined())
        stds.load(first, n, s);
      else
        std::fill_n(s, n, std_value);
      // Scaled after drawing: the same state gives the same noise for every mean and deviation.
      for (int64_t i = 0; i < n; ++i) values[i] = values[i] * s[i] + m[i];
      target.store(first, n, values);
    });
  }
};

NPU_OPERATOR(Normal, "normal", "random", in<&Normal::mean>("mean"), in<&Normal::std>("std"), out<&Normal::out>("out"),
             NPU_RANDOM_FIELDS(Normal));

}  // namespace
}  // namespace npu::ops
