// SPDX-License-Identifier: Apache-2.0
// Average pooling in 2-D and 3-D with fixed and adaptive windows, and its gradients.
// The gradient is the same walk in the other direction, so both share windows, planes and parts. A part is some planes
// and no two parts meet: bits do not depend on the number of threads.
#include "ops/operator.h"
#include "ops/pooling/box_kernel.h"

namespace npu::ops {
namespace {

/// Everything the four operators share: `large` has the size of the input, `small` that of the outputs.
struct BoxPlan : Operator {
  PoolWindow window;
  Planes large, small;
  DType slot = DType::kFloat;
  int64_t divisor = 0;
  bool backward = false;

  void run() override {
    if (large.parts() == 0) return;  // no channel, no lane
    // One row of the input is all that a part needs beside its planes: sums run down the window first.
    const int64_t line = window[2].in * large.lanes(0) * static_cast<int64_t>(size_of(slot));
    const int64_t small_at = large.buffer_bytes(), line_at = small_at + small.buffer_bytes();
    for_planes(large, line_at + line, [&](int64_t part, std::byte* buffer) {
      const BoxPart box{&window, {}, {}, buffer + line_at, large.lanes(part), divisor};
      backward ? spread(part, box, buffer, buffer + small_at) : sum(part, box, buffer, buffer + small_at);
    });
  }
  int64_t cost() const override { return 500 + large.parts() * large.plane() * 3; }

 protected:
  void plan(const Tensor& of_input, const Tensor& of_output, size_t spatial) {
    const int64_t lanes = plane_lanes(of_input, spatial);
    large = Planes(of_input, spatial, slot, lanes, false);
    small = Planes(of_output, spatial, slot, lanes, false);
  }

 private:
  void sum(int64_t part, BoxPart box, std::byte* large_buffer, std::byte* small_buffer) const {
    box.in = large.load(part, large_buffer);
    box.out = small.target(part, small_buffer);
    box_kernel(slot).sum(box);
    small.store(part, small_buffer);
  }
  void spread(int64_t part, BoxPart box, std::byte* large_buffer, std::byte* small_buffer) const {
    box.in = large.target(part, large_buffer);
    box.out = small.load(part, small_buffer);
    box_kernel(slot).spread(box);
    large.store(part, large_buffer);
  }
};

/// Pooling with a window of one size, and its gradient: how that window lies in the input.
struct FixedBoxPlan : BoxPlan {
  std::vector<int64_t> kernel_size, stride, padding;
  bool ceil_mode = false;
  bool count_include_pad = true;
  int64_t divisor_override = 0;
  int64_t spatial = 2;

 protected:
  size_t axes() const { return static_cast<size_t>(spatial); }
  void set_window(const Tensor& self, const char* name, const Tensor& pooled) {
    // count_include_pad decides the windows' divisors here, divisor_override replaces them all.
    window = fixed_window(self, axes(), {kernel_size, stride, padding, {}, ceil_mode, count_include_pad});
    check_pooled(name, pooled, self, axes(), window);
    divisor = divisor_override;
  }
};

struct AvgPool final : FixedBoxPlan {
  Tensor self, out;

  void prepare() override {
    slot = pool_slot("self", self);
    set_window(self, "out", out);
    plan(self, out, axes());
  }
};

struct AvgPoolBackward final : FixedBoxPlan {
  Tensor grad_output, self, grad_input;

  void prepare() override {
    slot = pool_slot("grad_output", grad_output);
    set_window(self, "grad_output", grad_output);
    require(grad_input.shape == self.shape, "grad_input is {}, self {}: the shapes must be equal", grad_input, self);
    backward = true;
    plan(grad_input, grad_output, axes());
  }
};

struct AdaptiveAvgPool final : BoxPlan {
  Tensor self, out;
  std::vector<int64_t> output_size;
  int64_t spatial = 2;

  void prepare() override {
    const auto axes = static_cast<size_t>(spatial);
    slot = pool_slot("self", self);
    window = adaptive_window(self, axes, output_size);
    check_pooled("out", out, self, axes, window);
    plan(self, out, axes);
  }
};

struct AdaptiveAvgPoolBackward final : BoxPlan {
  Tensor grad_output, self, grad_input;
  int64_t spatial = 2;

  void prepare() override {
    const auto axes = static_cast<size_t>(spatial);
    slot = pool_slot("grad_output", grad_output);
    require(grad_output.rank() == self.rank() && self.rank() > axes, "grad_output is {}, self {}: the ranks must agree",
            grad_output, self);
    // The output's sizes are the gradient's own: the windows follow from them.
    const std::span<const int64_t> shape = grad_output.shape;
    window = adaptive_window(self, axes, shape.subspan(shape.size() - axes));
    check_pooled("grad_output", grad_output, self, axes, window);
    require(grad_input.shape == self.shape, "grad_input is {}, self {}: the shapes must be equal", grad_input, self);
    backward = true;
    plan(grad_input, grad_output, axes);
  }
};

NPU_OPERATOR(AvgPool, "avg_pool", "pooling", in<&AvgPool::self>("self"), attr<&AvgPool::kernel_size>("kernel_size"),
             attr<&AvgPool::stride>("stride"), attr<&AvgPool::padding>("padding"),
             attr<&AvgPool::ceil_mode>("ceil_mode"), attr<&AvgPool::count_include_pad>("count_include_pad"),
             attr<&AvgPool::divisor_override>("divisor_override"), attr<&AvgPool::spatial>("spatial"),
             out<&AvgPool::out>("out"));
NPU_OPERATOR(AvgPoolBackward, "avg_pool_backward", "pooling", in<&AvgPoolBackward::grad_output>("grad_output"),
             in<&AvgPoolBackward::self>("self"), attr<&AvgPoolBackward::kernel_size>("kernel_size"),
             attr<&AvgPoolBackward::stride>("stride"), attr<&AvgPoolBackward::padding>("padding"),
             attr<&AvgPoolBackward::ceil_mode>("ceil_mode"),
             attr<&AvgPoolBackward::count_include_pad>("count_include_pad"),
             attr<&AvgPoolBackward::divisor_override>("divisor_override"), attr<&AvgPoolBackward::spatial>("spatial"),
             out<&AvgPoolBackward::grad_input>("grad_input"));
NPU_OPERATOR(AdaptiveAvgPool, "adaptive_avg_pool", "pooling", in<&AdaptiveAvgPool::self>("self"),
             attr<&AdaptiveAvgPool::output_size>("output_size"), attr<&AdaptiveAvgPool::spatial>("spatial"),
             out<&AdaptiveAvgPool::out>("out"));
NPU_OPERATOR(AdaptiveAvgPoolBackward, "adaptive_avg_pool_backward", "pooling",
             in<&AdaptiveAvgPoolBackward::grad_output>("grad_output"), in<&AdaptiveAvgPoolBackward::self>("self"),
             attr<&AdaptiveAvgPoolBackward::spatial>("spatial"),
             out<&AdaptiveAvgPoolBackward::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
