// SPDX-License-Identifier: Apache-2.0
// rrelu_with_noise: in training, negative elements are multiplied by a random slope in [lower, upper), which is kept in
// noise (1 elsewhere) for the backward pass; else by the slope in the middle.
#include "ops/random/distribution.h"
#include "ops/random/random_fill.h"

namespace npu::ops {
namespace {

struct RReluWithNoise final : RandomOperator {
  Tensor self, noise, out;
  double lower = 1.0 / 8, upper = 1.0 / 3;
  bool training = false;
  DType slot = DType::kFloat;
  OrderedTensor source, slopes, target;

  void prepare() override {
    prepare_state();
    require(is_floating(self.dtype), "self is {}; rrelu needs a floating dtype", self);
    require(lower <= upper, "lower is {}, upper is {}; lower must not be above upper", lower, upper);
    require(out.shape == self.shape, "self is {}, out is {}; both have the same shape", self, out);
    require(!training || noise.shape == self.shape, "self is {}, noise is {}; both have the same shape", self, noise);
    slot = random_slot(self.dtype);
    source = OrderedTensor(self, slot);
    target = OrderedTensor(out, slot);
    if (training) slopes = OrderedTensor(noise, slot);
  }
  void run() override {
    if (slot == DType::kDouble)
      apply<double>();
    else
      apply<float>();
  }
  int64_t cost() const override { return 200 + 4 * source.count(); }

 private:
  template <class T>
  void apply() const {
    // Words are drawn outside training too, and dropped: one walk serves both.
    random_blocks(state(), source.count(), sizeof(T) / 4, [&](int64_t first, int64_t n, const uint32_t* words) {
      T x[kRandomBlock], r[kRandomBlock];  // NOLINT: filled below
      source.load(first, n, x);
      if constexpr (sizeof(T) == 8)
        uniform_doubles(words, n, lower, upper, r);
      else
        uniform_floats(words, n, 24, lower, upper, r);
      for (int64_t i = 0; i < n; ++i) {
        const T slope = training ? r[i] : static_cast<T>((lower + upper) / 2);
        // 0 counts as negative, as in torch.
        r[i] = x[i] <= 0 ? slope : T(1);
        x[i] = x[i] <= 0 ? x[i] * slope : x[i];
      }
      if (training) slopes.store(first, n, r);
      target.store(first, n, x);
    });
  }
};

NPU_OPERATOR(RReluWithNoise, "rrelu_with_noise", "random", in<&RReluWithNoise::self>("self"),
             inout<&RReluWithNoise::noise>("noise"), attr<&RReluWithNoise::lower>("lower"),
             attr<&RReluWithNoise::upper>("upper"), attr<&RReluWithNoise::training>("training"),
             out<&RReluWithNoise::out>("out"), NPU_RANDOM_FIELDS(RReluWithNoise));

}  // namespace
}  // namespace npu::ops
