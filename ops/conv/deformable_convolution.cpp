// SPDX-License-Identifier: Apache-2.0
// Deformable convolution as a whole: what deformable.cpp lays out, and the plain convolution over it.
#include <vector>

#include "ops/runner/call.h"
#include "ops/runner/delegate.h"
#include "ops/scratch.h"

namespace npu::ops {
namespace {

using Ints = std::vector<int64_t>;

struct DeformableConvolution final : Delegate {
  Tensor input, weight, offset, bias, out, deform_out;
  Ints kernel_size, stride, padding, dilation;
  int64_t groups = 1, deformable_groups = 1;
  bool modulated = true;

  void prepare() override {
    restart();
    step("deformable_offsets", with("x", input), with("offsets", offset), with("ksize", kernel_size),
         with("strides", stride), with("pads", padding), with("dilations", dilation),
         with("deformable_groups", deformable_groups), with("modulated", modulated), with("y", deform_out));
    step("convolution", with("input", deform_out), with("weight", weight), with("bias", bias),
         with("stride", kernel_size), with("padding", Ints{0, 0}), with("dilation", Ints{1, 1}),
         with("output_padding", Ints{0, 0}), with("groups", groups), with("out", out));
  }
};

struct DeformableConvolutionBackward final : Operator {
  Tensor input, grad_output, deform_out, weight, offset, grad_input, grad_weight, grad_offset, grad_bias;
  Ints kernel_size, stride, padding, dilation;
  int64_t groups = 1, deformable_groups = 1;
  bool modulated = true;

  void prepare() override {
    // What is between the two passes takes its memory with each run; shapes are checked without it.
    by_convolution(between(nullptr)).prepare();
    by_places(between(nullptr)).prepare();
  }
  void run() override {
    const Scratch<float> room(deform_out.count());
    const Tensor middle = between(room);
    by_convolution(middle).run();
    by_places(middle).run();
  }
  int64_t cost() const override { return 4000 + deform_out.count() * weight.shape[0]; }

 private:
  Tensor between(float* data) const { return make_tensor(data, DType::kFloat, deform_out.shape); }
  Call by_convolution(const Tensor& middle) const {
    Call call("convolution_backward");
    call.set("grad_output", grad_output).set("input", deform_out).set("weight", weight);
    call.set("bias_sizes", Ints{weight.shape[0]}).set("stride", kernel_size).set("padding", Ints{0, 0});
    call.set("dilation", Ints{1, 1}).set("output_padding", Ints{0, 0}).set("groups", groups);
    call.set("output_mask", std::vector<bool>{true, true, true}).set("grad_input", middle);
    call.set("grad_weight", grad_weight).set("grad_bias", grad_bias);
    return call;
  }
  Call by_places(const Tensor& middle) const {
    Call call("deformable_offsets_grad");
    call.set("grad", middle).set("x", input).set("offsets", offset).set("ksize", kernel_size).set("strides", stride);
    call.set("pads", padding).set("dilations", dilation).set("deformable_groups", deformable_groups);
    call.set("modulated", modulated).set("grad_x", grad_input).set("grad_offsets", grad_offset);
    return call;
  }
};

#define NPU_DEFORMABLE(type)                                                                                   \
  in<&type::input>("input"), in<&type::weight>("weight"), in<&type::offset>("offset"),                         \
      attr<&type::kernel_size>("kernel_size"), attr<&type::stride>("stride"), attr<&type::padding>("padding"), \
      attr<&type::dilation>("dilation"), attr<&type::groups>("groups"),                                        \
      attr<&type::deformable_groups>("deformable_groups"), attr<&type::modulated>("modulated")
NPU_OPERATOR(DeformableConvolution, "deformable_convolution", "conv", NPU_DEFORMABLE(DeformableConvolution),
             optional<&DeformableConvolution::bias>("bias"), out<&DeformableConvolution::out>("out"),
             out<&DeformableConvolution::deform_out>("deform_out"));
NPU_OPERATOR(DeformableConvolutionBackward, "deformable_convolution_backward", "conv",
             NPU_DEFORMABLE(DeformableConvolutionBackward),
             in<&DeformableConvolutionBackward::grad_output>("grad_output"),
             in<&DeformableConvolutionBackward::deform_out>("deform_out"),
             out<&DeformableConvolutionBackward::grad_input>("grad_input"),
             out<&DeformableConvolutionBackward::grad_weight>("grad_weight"),
             out<&DeformableConvolutionBackward::grad_offset>("grad_offset"),
             out<&DeformableConvolutionBackward::grad_bias>("grad_bias"));

}  // namespace
}  // namespace npu::ops
