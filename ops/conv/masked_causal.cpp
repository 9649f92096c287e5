// SPDX-License-Identifier: Apache-2.0
// A convolution of each channel with the steps before it, of which masked ones are left out, and its gradients.
#include <algorithm>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/conversion/convert.h"
#include "ops/vector/conversion/element.h"

namespace npu::ops {
namespace {

/// input is [steps, batch, channels], weight [taps, channels], mask [batch, steps]; both directions share the checks.
struct MaskedCausal : Operator {
  Tensor input, weight, mask;

  int64_t cost() const override { return 1000 + input.count() * taps(); }

 protected:
  void check() const {
    require(input.dtype == DType::kHalf || input.dtype == DType::kBFloat16 || input.dtype == DType::kFloat,
            "input is {}; use float16, bfloat16 or float32", input);
    require(input.rank() == 3 && weight.rank() == 2 && weight.dtype == input.dtype &&
                weight.shape[1] == input.shape[2] && weight.shape[0] > 0,
            "input is {}, weight is {}; they are [steps, batch, channels] and [taps, channels]", input, weight);
    require(!mask.defined() || (mask.dtype == DType::kBool && mask.shape == Dims({input.shape[1], input.shape[0]})),
            "mask is {}; it is bool {}", mask, Dims{input.shape[1], input.shape[0]});
  }
  void check_like_input(const Tensor& t, const char* name) const {
    require(t.dtype == input.dtype && t.shape == input.shape, "{} is {}, input is {}: they must be alike", name, t,
            input);
  }
  int64_t taps() const { return weight.rank() == 2 ? weight.shape[0] : 1; }
  int64_t steps() const { return input.shape[0]; }
  int64_t channels() const { return input.shape[2]; }
  bool kept(int64_t step, int64_t b) const {
    return !mask.defined() || load_element(mask, b * mask.strides[0] + step * mask.strides[1]) != 0;
  }
  std::byte* line_of(const Tensor& t, int64_t step, int64_t b) const {
    return t.bytes() + (step * t.strides[0] + b * t.strides[1]) * static_cast<int64_t>(size_of(t.dtype));
  }
  void load(const Tensor& t, int64_t step, int64_t b, float* to) const {
    converter(t.dtype, DType::kFloat)(line_of(t, step, b), t.strides[2], to, 1, channels());
  }
  void store(const float* from, const Tensor& t, int64_t step, int64_t b) const {
    converter(DType::kFloat, t.dtype)(from, 1, line_of(t, step, b), t.strides[2], channels());
  }
  /// The weights as float32, tap after tap.
  void load_weight(float* to) const {
    const auto size = static_cast<int64_t>(size_of(weight.dtype));
    for (int64_t w = 0; w < taps(); ++w)
      converter(weight.dtype, DType::kFloat)(weight.bytes() + w * weight.strides[0] * size, weight.strides[1],
                                             to + w * channels(), 1, channels());
  }
};

void add_product(const float* a, const float* b, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += a[i] * b[i];
}

/// out[s] = sum over w of weight[w] * input[s - taps + 1 + w], 0 where the mask is off.
struct MaskedCausalConv final : MaskedCausal {
  Tensor out;

  void prepare() override {
    check();
    check_like_input(out, "out");
  }
  void run() override {
    const Scratch<float> weights(taps() * channels());
    load_weight(weights);
    const int64_t batch = input.shape[1];
    parallel_for(steps() * batch, 16, [&](int64_t begin, int64_t end) {
      const Scratch<float> x(channels()), sum(channels());
      for (int64_t i = begin; i < end; ++i) {
        const int64_t step = i / batch, b = i % batch;
        std::fill_n(sum.data(), channels(), 0.0f);
        for (int64_t w = 0; w < taps() && kept(step, b); ++w) {
          const int64_t from = step - taps() + 1 + w;
          if (from < 0) continue;
          load(input, from, b, x);
          add_product(x, weights + w * channels(), sum, channels());
        }
        store(sum, out, step, b);
      }
    });
  }
};

/// The gradients of MaskedCausalConv. Those of the weights are sums over all steps, added in one order.
struct MaskedCausalConvGrad final : MaskedCausal {
  Tensor grad, grad_input, grad_weight;

  void prepare() override {
    check();
    check_like_input(grad, "grad_output");
    check_like_input(grad_input, "grad_input");
    require(grad_weight.dtype == weight.dtype && grad_weight.shape == weight.shape,
            "grad_weight is {}, weight is {}: they must be alike", grad_weight, weight);
  }
  void run() override {
    make_input();
    parallel_parts(taps(), [this](int64_t w) { make_weight(w); });
  }

 private:
  void make_input() const {
    const Scratch<float> weights(taps() * channels());
    load_weight(weights);
    const int64_t batch = input.shape[1];
    parallel_for(steps() * batch, 16, [&](int64_t begin, int64_t end) {
      const Scratch<float> g(channels()), sum(channels());
      for (int64_t i = begin; i < end; ++i) {
        const int64_t step = i / batch, b = i % batch;
        std::fill_n(sum.data(), channels(), 0.0f);
        for (int64_t w = 0; w < taps(); ++w) {
          const int64_t to = step + taps() - 1 - w;
          if (to >= steps() || !kept(to, b)) continue;
          load(grad, to, b, g);
          add_product(g, weights + w * channels(), sum, channels());
        }
        store(sum, grad_input, step, b);
      }
    });
  }
  // In double: there may be many steps, and their products cancel.
  void make_weight(int64_t w) const {
    const Scratch<float> g(channels()), x(channels());
    const Scratch<double> sum(channels());
    std::fill_n(sum.data(), channels(), 0.0);
    for (int64_t step = taps() - 1 - w; step < steps(); ++step) {
      for (int64_t b = 0; b < input.shape[1]; ++b) {
        if (!kept(step, b)) continue;
        load(grad, step, b, g), load(input, step - taps() + 1 + w, b, x);
        for (int64_t i = 0; i < channels(); ++i) sum[i] += static_cast<double>(g[i]) * x[i];
      }
    }
    for (int64_t i = 0; i < channels(); ++i)
      store_element(grad_weight, w * grad_weight.strides[0] + i * grad_weight.strides[1], sum[i]);
  }
};

NPU_OPERATOR(MaskedCausalConv, "masked_causal_conv", "conv", in<&MaskedCausalConv::input>("input"),
             in<&MaskedCausalConv::weight>("weight"), optional<&MaskedCausalConv::mask>("mask"),
             out<&MaskedCausalConv::out>("out"));
NPU_OPERATOR(MaskedCausalConvGrad, "masked_causal_conv_grad", "conv", in<&MaskedCausalConvGrad::grad>("grad"),
             in<&MaskedCausalConvGrad::input>("input"), in<&MaskedCausalConvGrad::weight>("weight"),
             optional<&MaskedCausalConvGrad::mask>("mask"), out<&MaskedCausalConvGrad::grad_input>("grad_input"),
             out<&MaskedCausalConvGrad::grad_weight>("grad_weight"));

}  // namespace
}  // namespace npu::ops
