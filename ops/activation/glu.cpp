// SPDX-License-Identifier: Apache-2.0
// Gated linear units: the input is halved along an axis, one half gates the other. The gates are lines of
// glu_gate.cpp; here are the halves.
//   glu     a · sigmoid(b)         swiglu  silu(a) · b
//   geglu   a · gelu(b), or gelu(a) · b with activate_left
#include <string_view>

#include "ops/runner/delegate.h"

namespace npu::ops {
namespace {

struct Halves {
  Tensor first, second;
};

// Two views of `tensor`, which must have an even size along `dim`.
Halves halve(const Tensor& tensor, int64_t dim, std::string_view name) {
  require(tensor.rank() > 0, "{} is a scalar; a gated unit halves an axis", name);
  const size_t axis = wrap_dim(dim, tensor.rank());
  const int64_t size = tensor.shape[axis];
  require(size % 2 == 0, "{} is {}: size {} of dimension {} is odd and cannot be halved", name, tensor, size, axis);
  Dims shape = tensor.shape;
  shape[axis] = size / 2;
  Halves out{tensor.view(shape, tensor.strides), tensor.view(shape, tensor.strides)};
  out.second.offset += size / 2 * tensor.strides[axis];
  return out;
}

Operand operand(const Tensor& tensor) { return {tensor, {}}; }

// The gated half is `a`, the gate `b`, and `out` takes the shape of a half.
struct Gated : Delegate {
  void forward(std::string_view gate, const Tensor& a, const Tensor& b, const Tensor& out) {
    step(gate, with("self", operand(a)), with("gate", operand(b)), with("out", out));
  }
  void backward(std::string_view line, const Tensor& grad, const Tensor& a, const Tensor& b, const Tensor& out) {
    step(line, with("grad_output", operand(grad)), with("self", operand(a)), with("gate", operand(b)),
         with("out", out));
  }
};

template <bool kSwish>
struct GluOf final : Gated {
  Tensor self, out;
  int64_t dim = -1;

  void prepare() override {
    restart();
    const auto [a, b] = halve(self, dim, "self");
    if (kSwish)
      forward("gate_silu", b, a, out);
    else
      forward("gate_sigmoid", a, b, out);
  }
};

template <bool kSwish>
struct GluOfBackward final : Gated {
  Tensor grad_output, self, out;
  int64_t dim = -1;

  void prepare() override {
    restart();
    const auto [a, b] = halve(self, dim, "self");
    const auto [grad_a, grad_b] = halve(out, dim, "out");
    const Tensor& value = kSwish ? b : a;
    const Tensor& gate = kSwish ? a : b;
    // The product rule needs no lines of its own: the gradient by the value is the gate on the incoming gradient.
    forward(kSwish ? "gate_silu" : "gate_sigmoid", grad_output, gate, kSwish ? grad_b : grad_a);
    backward(kSwish ? "gate_silu_gate" : "gate_sigmoid_gate", grad_output, value, gate, kSwish ? grad_a : grad_b);
  }
};

using Glu = GluOf<false>;
using SwiGlu = GluOf<true>;
using GluBackward = GluOfBackward<false>;
using SwiGluBackward = GluOfBackward<true>;

NPU_OPERATOR(Glu, "glu", "activation", in<&Glu::self>("self"), attr<&Glu::dim>("dim"), out<&Glu::out>("out"));
NPU_OPERATOR(SwiGlu, "swiglu", "activation", in<&SwiGlu::self>("self"), attr<&SwiGlu::dim>("dim"),
             out<&SwiGlu::out>("out"));
NPU_OPERATOR(GluBackward, "glu_backward", "activation", in<&GluBackward::grad_output>("grad_output"),
             in<&GluBackward::self>("self"), attr<&GluBackward::dim>("dim"), out<&GluBackward::out>("out"));
NPU_OPERATOR(SwiGluBackward, "swiglu_backward", "activation", in<&SwiGluBackward::grad_output>("grad_output"),
             in<&SwiGluBackward::self>("self"), attr<&SwiGluBackward::dim>("dim"), out<&SwiGluBackward::out>("out"));

// approximate: 0 exact, else tanh. `gelu` keeps gelu of the gate for the backward pass.
struct GeGlu final : Gated {
  Tensor self, out, gelu;
  int64_t dim = -1, approximate = 1;
  bool activate_left = false;

  void prepare() override {
    restart();
    const auto [a, b] = halve(self, dim, "self");
    const Tensor& value = activate_left ? b : a;
    const Tensor& gate = activate_left ? a : b;
    forward(approximate == 0 ? "gate_gelu" : "gate_gelu_tanh", value, gate, out);
    // Of the gate alone, not of the product: the backward pass multiplies the incoming gradient by it.
    step(approximate == 0 ? "gelu" : "gelu_tanh", with("self", operand(gate)), with("out", gelu));
  }
};

struct GeGluBackward final : Gated {
  Tensor grad_output, self, gelu, out;
  int64_t dim = -1, approximate = 1;
  bool activate_left = false;

  void prepare() override {
    restart();
    const auto [a, b] = halve(self, dim, "self");
    const auto [grad_a, grad_b] = halve(out, dim, "out");
    const Tensor& value = activate_left ? b : a;
    const Tensor& gate = activate_left ? a : b;
    // The saved gelu is the derivative by the value, so this half costs one product and no exponential.
    step("mul", with("self", operand(grad_output)), with("other", operand(gelu)),
         with("out", activate_left ? grad_b : grad_a));
    backward(approximate == 0 ? "gate_gelu_gate" : "gate_gelu_tanh_gate", grad_output, value, gate,
             activate_left ? grad_a : grad_b);
  }
};

NPU_OPERATOR(GeGlu, "geglu", "activation", in<&GeGlu::self>("self"), attr<&GeGlu::dim>("dim"),
             attr<&GeGlu::approximate>("approximate"), attr<&GeGlu::activate_left>("activate_left"),
             out<&GeGlu::out>("out"), out<&GeGlu::gelu>("gelu"));
NPU_OPERATOR(GeGluBackward, "geglu_backward", "activation", in<&GeGluBackward::grad_output>("grad_output"),
             in<&GeGluBackward::self>("self"), in<&GeGluBackward::gelu>("gelu"), attr<&GeGluBackward::dim>("dim"),
             attr<&GeGluBackward::approximate>("approximate"), attr<&GeGluBackward::activate_left>("activate_left"),
             out<&GeGluBackward::out>("out"));

// gelu of the first half of the last axis times the second; approximate is "none" or "tanh".
struct GeluMul final : Gated {
  Tensor self, out;
  std::string approximate = "none";

  void prepare() override {
    require(approximate == "none" || approximate == "tanh", "approximate is '{}'; it must be 'none' or 'tanh'",
            approximate);
    restart();
    const auto [a, b] = halve(self, -1, "input");
    forward(approximate == "none" ? "gate_gelu" : "gate_gelu_tanh", b, a, out);
  }
};

NPU_OPERATOR(GeluMul, "gelu_mul", "activation", in<&GeluMul::self>("self"), attr<&GeluMul::approximate>("approximate"),
             out<&GeluMul::out>("out"));

}  // namespace
}  // namespace npu::ops
