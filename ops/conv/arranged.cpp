// SPDX-License-Identifier: Apache-2.0
// Convolutions under other names: depthwise ones, whose groups follow from the weight, and those over time, batch and
// channels, which are views of the usual ones.
#include <string_view>
#include <vector>

#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

using Ints = std::vector<int64_t>;

/// Every channel has its own filters: weight is [channels * multiplier, 1, kernel…].
struct DepthwiseConvolution final : Delegate {
  Tensor input, weight, bias, out;
  Ints kernel_size, stride, padding, dilation;

  void prepare() override {
    restart();
    require(input.rank() == 4 && weight.rank() == 4, "self is {}, weight is {}: both must have 4 dimensions", input,
            weight);
    require(weight.shape[1] == 1 && input.shape[1] > 0 && weight.shape[0] % input.shape[1] == 0,
            "weight is {}, self has {} channels; it must be [channels * multiplier, 1, height, width]", weight,
            input.shape[1]);
    require(kernel_size == Ints({weight.shape[2], weight.shape[3]}),
            "kernel_size does not agree with weight, which is {}", weight);
    step("convolution", with("input", input), with("weight", weight), with("bias", bias), with("stride", stride),
         with("padding", padding), with("dilation", dilation), with("output_padding", Ints{0, 0}),
         with("groups", input.shape[1]), with("out", out));
  }
};

Tensor ordered(const Tensor& t, size_t first, size_t second, size_t third) {
  return t.view({t.shape[first], t.shape[second], t.shape[third]},
                {t.strides[first], t.strides[second], t.strides[third]});
}
// [time, batch, channels] as [batch, channels, time]; a kernel [time, in, out] as [out, in, time].
Tensor signal_of(const Tensor& t) { return ordered(t, 1, 2, 0); }
Tensor kernel_of(const Tensor& t) { return ordered(t, 2, 1, 0); }

void require_three(const char* name, const Tensor& t) {
  require(t.rank() == 3, "{} is {}; it must have 3 dimensions", name, t);
}

struct TimeConvolution final : Delegate {
  Tensor input, weight, bias, out;
  int64_t pad = 0;

  void prepare() override {
    restart();
    require_three("self", input), require_three("weight", weight), require_three("output", out);
    step("convolution", with("input", signal_of(input)), with("weight", kernel_of(weight)), with("bias", bias),
         with("stride", Ints{1}), with("padding", Ints{pad}), with("dilation", Ints{1}),
         with("output_padding", Ints{0}), with("out", signal_of(out)));
  }
};

struct TimeConvolutionBackward final : Delegate {
  Tensor grad_output, input, weight, bias, grad_input, grad_weight, grad_bias;
  int64_t pad = 0;

  void prepare() override {
    restart();
    require_three("self", grad_output), require_three("input", input), require_three("weight", weight);
    require_three("gradInput", grad_input), require_three("gradWeight", grad_weight);
    step("convolution_backward", with("grad_output", signal_of(grad_output)), with("input", signal_of(input)),
         with("weight", kernel_of(weight)), with("bias_sizes", Ints{weight.shape[2]}), with("stride", Ints{1}),
         with("padding", Ints{pad}), with("dilation", Ints{1}), with("output_padding", Ints{0}),
         with("output_mask", std::vector<bool>{true, true, true}), with("grad_input", signal_of(grad_input)),
         with("grad_weight", kernel_of(grad_weight)), with("grad_bias", grad_bias));
  }
};

NPU_OPERATOR(DepthwiseConvolution, "depthwise_convolution", "conv", in<&DepthwiseConvolution::input>("input"),
             in<&DepthwiseConvolution::weight>("weight"), optional<&DepthwiseConvolution::bias>("bias"),
             attr<&DepthwiseConvolution::kernel_size>("kernel_size"), attr<&DepthwiseConvolution::stride>("stride"),
             attr<&DepthwiseConvolution::padding>("padding"), attr<&DepthwiseConvolution::dilation>("dilation"),
             out<&DepthwiseConvolution::out>("out"));
NPU_OPERATOR(TimeConvolution, "time_convolution", "conv", in<&TimeConvolution::input>("input"),
             in<&TimeConvolution::weight>("weight"), optional<&TimeConvolution::bias>("bias"),
             attr<&TimeConvolution::pad>("pad"), out<&TimeConvolution::out>("out"));
NPU_OPERATOR(TimeConvolutionBackward, "time_convolution_backward", "conv",
             in<&TimeConvolutionBackward::grad_output>("grad_output"), in<&TimeConvolutionBackward::input>("input"),
             in<&TimeConvolutionBackward::weight>("weight"), optional<&TimeConvolutionBackward::bias>("bias"),
             attr<&TimeConvolutionBackward::pad>("pad"), out<&TimeConvolutionBackward::grad_input>("grad_input"),
             out<&TimeConvolutionBackward::grad_weight>("grad_weight"),
             out<&TimeConvolutionBackward::grad_bias>("grad_bias"));

}  // namespace
}  // namespace npu::ops
