// SPDX-License-Identifier: Apache-2.0
// bernoulli: out is 1 with probability p, a number or a tensor that broadcasts to out; else 0.
#include "ops/random/distribution.h"
#include "ops/random/random_fill.h"

namespace npu::ops {
namespace {

struct Bernoulli final : RandomOperator {
  Operand p;
  Tensor out;
  OrderedTensor target, probabilities;

  void prepare() override {
    prepare_state();
    if (p.is_scalar()) {
      const double value = p.scalar.to_double();
      require(value >= 0 && value <= 1, "p is {}; a probability lies between 0 and 1", value);
    } else {
      require(is_floating(p.tensor.dtype), "p is {}; probabilities need a floating dtype", p.tensor);
      probabilities = OrderedTensor(p.tensor.expanded(out.shape), DType::kFloat);
    }
    target = OrderedTensor(out, DType::kFloat);
  }
  void run() override {
    const auto value = static_cast<float>(p.scalar.to_double());
    random_blocks(state(), target.count(), 1, [&](int64_t first, int64_t n, const uint32_t* words) {
      float drawn[kRandomBlock], limit[kRandomBlock];  // NOLINT: filled below
      // 24 bits: all that a float in [0, 1) holds, so p = 1 is never missed and p = 0 never hit.
      uniform_floats(words, n, 24, 0, 1, drawn);
      if (probabilities.defined())
        probabilities.load(first, n, limit);
      else
        std::fill_n(limit, n, value);
      // Below and not up to: a number of [0, 1) is below p with probability p.
      for (int64_t i = 0; i < n; ++i) drawn[i] = drawn[i] < limit[i] ? 1.0f : 0.0f;
      target.store(first, n, drawn);
    });
  }
  int64_t cost() const override { return 200 + 2 * target.count(); }
};

NPU_OPERATOR(Bernoulli, "bernoulli", "random", in<&Bernoulli::p>("p"), out<&Bernoulli::out>("out"),
             NPU_RANDOM_FIELDS(Bernoulli));

}  // namespace
}  // namespace npu::ops
