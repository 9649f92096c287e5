// SPDX-License-Identifier: Apache-2.0
#include "comm/operator/local_product.h"

#include "ops/runner/call.h"
#include "ops/runner/overflow.h"

namespace npu::comm {
namespace {

Tensor with_batch(const Tensor& matrix, const Tensor& x1) {
  if (x1.rank() == 2) return matrix;
  return matrix.expanded({x1.shape[0], matrix.shape[0], matrix.shape[1]});
}

/// What is added to the product, in float32 where it is a sum itself.
Tensor sum_of(const Tensor& bias, const Tensor& x3, const Dims& shape, void* room) {
  if (!x3.defined()) return ops::addend(bias, shape);
  return bias.defined() ? make_tensor(room, DType::kFloat, shape) : x3;
}

void check_types(const Tensor& x1, const Tensor& x2, const Tensor& bias, const Tensor& x3, bool float_bias) {
  require(x1.dtype == x2.dtype, "x1 is {}, x2 is {}: they must have one type; cast one of them", x1.dtype, x2.dtype);
  const bool as_float = float_bias && bias.defined() && bias.dtype == DType::kFloat;
  for (const auto& [tensor, name] : {std::pair(&bias, "bias"), std::pair(&x3, "x3")})
    require(!tensor->defined() || tensor->dtype == x1.dtype || (as_float && tensor == &bias),
            "{} is {}, x1 is {}: they must have one type; cast {}", name, tensor->dtype, x1.dtype, name);
}

}  // namespace

Dims product_shape(const Tensor& x1, const Tensor& x2) {
  require(x1.rank() == 2 || x1.rank() == 3, "x1 is {}; it has 2 or 3 dimensions", x1.shape);
  require(x2.rank() == 2, "x2 is {}; it has 2 dimensions", x2.shape);
  require(x1.shape.back() == x2.shape[0], "x1 is {}, x2 is {}: inner sizes differ ({} and {})", x1.shape, x2.shape,
          x1.shape.back(), x2.shape[0]);
  Dims shape = x1.shape;
  shape.back() = x2.shape[1];
  return shape;
}

void check_terms(const Tensor& bias, const Tensor& x3, const Dims& shape) {
  require(!bias.defined() || bias.shape == Dims{shape.back()}, "bias is {}; it has one number for each of {} columns",
          bias.shape, shape.back());
  require(!x3.defined() || x3.shape == shape, "x3 is {}, the result is {}: they must be of one shape", x3.shape, shape);
}

void LocalProduct::plan(const Tensor& x1, const Tensor& x2, const Tensor& bias, const Tensor& x3, const Tensor& out,
                        bool float_bias) {
  const Dims shape = product_shape(x1, x2);
  check_types(x1, x2, bias, x3, float_bias);
  check_terms(bias, x3, shape);
  weight_.plan(x2, "x2");
  ops::require_shape(out, shape);
  require(out.dtype == x1.dtype, "out is {}, x1 is {}: they must have one type", out.dtype, x1.dtype);
  product_.plan(x1, with_batch(x2, x1), sum_of(bias, x3, shape, nullptr), out);
}

void LocalProduct::run(const Tensor& x1, const Tensor& x2, const Tensor& bias, const Tensor& x3,
                       const Tensor& out) const {
  const bool both = bias.defined() && x3.defined();
  ops::Scratch<float> sums(both ? out.count() : 0);
  const Tensor sum = sum_of(bias, x3, out.shape, sums);
  if (both)
    ops::Call("add").set("self", ops::Operand{x3, {}}).set("other", ops::Operand{bias, {}}).set("out", sum).run();
  ops::Scratch<std::byte> room;
  product_.run(x1, with_batch(weight_.of(x2, room), x1), sum, out);
}

void saturate_partial(const Tensor& out) {
  const ops::OverflowScope* scope = ops::OverflowScope::current();
  if (scope == nullptr || !ops::has_overflow(out)) return;
  scope->found(out, "out");
  ops::saturate(out);
}

}  // namespace npu::comm
