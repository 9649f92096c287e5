// SPDX-License-Identifier: Apache-2.0
// Element by element: one line each. The output has the broadcast shape of the inputs, and their type unless the line
// gives another.
#include <span>

#include "graph/node/layout.h"
#include "graph/node/state/optional.h"

namespace npu::graph {
namespace {

/// Fields that take the inputs, in order, by their number.
constexpr std::string_view kUnary[] = {"self"};
constexpr std::string_view kBinary[] = {"self", "other"};
constexpr std::string_view kPower[] = {"self", "exponent"};
constexpr std::string_view kTwice[] = {"self", "other"};
constexpr std::string_view kSelect[] = {"condition", "self", "other"};
constexpr std::string_view kBackward[] = {"output", "grad_output"};

Dims broadcast_shape(const Lowering& l) {
  Dims shape = l.shape(0);
  for (size_t i = 1; i < l.input_count(); ++i) shape = broadcast(shape, l.shape(i));
  return shape;
}

/// Images that lie with their channels last are gone over in that order, and lie so again.
void emit_images(Lowering& l, std::span<const std::string_view> fields, DType dtype, const Dims& shape) {
  const Planned out = make_images(l, 0, dtype, shape);
  OperatorCall call = l.call(l.target());
  for (size_t i = 0; i < fields.size(); ++i)
    call.set(fields[i], l.shape(i).empty() ? l.input(i) : in_order_of_memory(expanded(l.input(i), shape)));
  call.set("out", in_order_of_memory(out));
}

void emit(Lowering& l, std::span<const std::string_view> fields, DType dtype) {
  const Dims shape = broadcast_shape(l);
  for (size_t i = 0; i < fields.size(); ++i)
    if (l.shape(i) == shape && lies_channels_last(l.input(i))) return emit_images(l, fields, dtype, shape);
  const Planned out = l.make(0, dtype, shape);
  OperatorCall call = l.call(l.target());
  for (size_t i = 0; i < fields.size(); ++i) call.set(fields[i], l.input(i));
  call.set("out", out);
}

void lower_unary(Lowering& l) { emit(l, kUnary, l.dtype(0)); }
void lower_binary(Lowering& l) { emit(l, kBinary, l.dtype(0)); }
void lower_unary_test(Lowering& l) { emit(l, kUnary, DType::kBool); }
void lower_binary_test(Lowering& l) { emit(l, kBinary, DType::kBool); }

void lower_power(Lowering& l) {
  if (is_integer(l.dtype(0)))
    l.call("check_integers")
        .set("self", l.input(1))
        .set("refuse_negative", true)
        .set("message", std::string("Integers to negative integer powers are not allowed"));
  emit(l, kPower, l.dtype(0));
}

void lower_select(Lowering& l) { emit(l, kSelect, l.dtype(1)); }

void lower_ordered(Lowering& l) {
  decline_unordered(l);
  lower_binary(l);
}
void lower_ordered_test(Lowering& l) {
  decline_unordered(l);
  lower_binary_test(l);
}
/// In the type itself: integers do not pass through floats.
void lower_square(Lowering& l) {
  const Planned x = l.input(0);
  l.call("mul").set("self", x).set("other", x).set("out", l.make(0, x.dtype(), x.shape()));
}
/// Where the ends have changed places, the lower one counts.
void clip(Lowering& l) {
  decline_unordered(l);
  for (const size_t bound : {1, 2})
    require(l.shape(bound).empty() || l.shape(bound) == l.shape(0),
            "a bound is {} and the input {}; bounds are numbers, or have the shape of the input", l.shape(bound),
            l.shape(0));
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  l.call("clamp_max").set("self", l.input(0)).set("max", l.input(2)).set("out", out);
  l.call("clamp_min").set("self", out).set("min", l.input(1)).set("out", out);
}
void is_nan(Lowering& l) {
  const Planned x = l.input(0);
  l.call("ne").set("self", x).set("other", x).set("out", l.make(0, DType::kBool, x.shape()));
}
/// Differences below the tolerance count as none.
void nearly_equal(Lowering& l) {
  decline_unordered(l);
  const Planned apart = l.scratch(l.dtype(0), l.shape(0));
  l.call("sub").set("self", l.input(0)).set("other", l.input(1)).set("out", apart);
  l.call("abs").set("self", apart).set("out", apart);
  l.call("lt")
      .set("self", apart)
      .set("other", ops::Operand{{}, Scalar(l.attributes().get_or<double>("tolerance", 1e-5))})
      .set("out", l.make(0, DType::kBool, l.shape(0)));
}
void is_inf(Lowering& l) {
  const Planned x = l.input(0), size = l.scratch(x.dtype(), x.shape());
  l.call("abs").set("self", x).set("out", size);
  l.call("isposinf").set("self", size).set("out", l.make(0, DType::kBool, x.shape()));
}
/// log(1 + e^x), by its larger part, so that nothing overflows.
void softplus(Lowering& l) {
  l.call("logaddexp")
      .set("self", l.input(0))
      .set("other", ops::Operand{{}, Scalar(0)})
      .set("out", l.make(0, l.dtype(0), l.shape(0)));
}

/// The gradient told from the output (input 0) and the gradient of the output (input 1).
void lower_backward(Lowering& l) {
  if (is_complex(l.dtype(0))) l.decline("gradients of complex functions are left to the client");
  const Planned out = l.make(0, l.dtype(0), broadcast(l.shape(0), l.shape(1)));
  l.call(l.target()).set(kBackward[0], l.input(0)).set(kBackward[1], l.input(1)).set("out", out);
}
void softplus_grad(Lowering& l) {
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  l.call("gate_sigmoid").set("self", l.input(0)).set("gate", l.input(1)).set("out", out);
}
void softsign_grad(Lowering& l) {
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  l.call("softsign_backward").set("grad_output", l.input(0)).set("self", l.input(1)).set("out", out);
}

/// The old rule: the condition has the shape of the others, or is one number, or has one element for each of their
/// rows.
void select_rows(Lowering& l) {
  decline_objects(l);
  const Dims& shape = l.shape(1);
  require(shape == l.shape(2), "'then' and 'else' must have the same size.  but received: {} vs. {}", shape,
          l.shape(2));
  Planned condition = l.input(0);
  if (condition.shape().size() == 1 && shape.size() > 1) {
    require(condition.shape()[0] == shape[0],
            "Number of batches of 'then' must match size of 'cond', but saw: {} vs. {}", shape[0],
            condition.shape()[0]);
    Dims sizes(shape.size(), 1), strides(shape.size(), 0);
    sizes[0] = shape[0], strides[0] = condition.view.strides[0];
    condition = restrided(condition, sizes, strides);
  }
  l.call("where")
      .set("condition", condition)
      .set("self", l.input(1))
      .set("other", l.input(2))
      .set("out", l.make(0, l.dtype(1), shape));
}

void add_n(Lowering& l) {
  if (lower_sum_of_optionals(l)) return;
  decline_objects(l);
  if (l.input_count() == 1) return l.alias(0, l.input(0));
  const Planned out = l.make(0, l.dtype(0), l.shape(0));
  Planned sum = l.input(0);
  for (size_t i = 1; i < l.input_count(); ++i) {
    require(l.shape(i) == l.shape(0),
            "Inputs to operation must have the same size and shape. Input 0: {} != input {}: {}", l.shape(0), i,
            l.shape(i));
    l.call("add").set("self", sum).set("other", l.input(i)).set("out", out);
    sum = out;
  }
}

constexpr PointLower unary{lower_unary, {kUnary}};
constexpr PointLower unary_test{lower_unary_test, {kUnary, true}};
constexpr PointLower binary{lower_binary, {kBinary}};
constexpr PointLower binary_test{lower_binary_test, {kBinary, true}};
constexpr PointLower ordered{lower_ordered, {kBinary}};
constexpr PointLower ordered_test{lower_ordered_test, {kBinary, true}};
constexpr PointLower power{lower_power, {kPower}};
constexpr PointLower select{lower_select, {kSelect}};
constexpr PointLower backward{lower_backward, {kBackward}};
constexpr PointLower square{lower_square, {.fields = kTwice, .same = true}};

NPU_NODE("Neg", unary, "neg");
NPU_NODE("Exp", unary, "exp");
NPU_NODE("Log", unary, "log");
NPU_NODE("Log1p", unary, "log1p");
NPU_NODE(Kind::kRoot, unary, "sqrt");
NPU_NODE("Rsqrt", unary, "rsqrt");
NPU_NODE(Kind::kSquare, square, "mul");
NPU_NODE("Abs", unary, "abs");
NPU_NODE("Sign", unary, "sign_or_nan");
NPU_NODE("Ceil", unary, "ceil");
NPU_NODE("Floor", unary, "floor");
NPU_NODE("Erf", unary, "erf");
NPU_NODE("Sin", unary, "sin");
NPU_NODE("Cos", unary, "cos");
NPU_NODE("Tanh", unary, "tanh");
NPU_NODE("Sigmoid", unary, "sigmoid");
NPU_NODE("Relu", unary, "relu");
NPU_NODE("Reciprocal", unary, "reciprocal");
NPU_NODE("Inv", unary, "reciprocal");
NPU_NODE("Round", unary, "round");
NPU_NODE("Rint", unary, "round");
NPU_NODE("Expm1", unary, "expm1");
NPU_NODE("Tan", unary, "tan");
NPU_NODE("Asin", unary, "asin");
NPU_NODE("Acos", unary, "acos");
NPU_NODE("Atan", unary, "atan");
NPU_NODE("Sinh", unary, "sinh");
NPU_NODE("Cosh", unary, "cosh");
NPU_NODE("Asinh", unary, "asinh");
NPU_NODE("Acosh", unary, "acosh");
NPU_NODE("Atanh", unary, "atanh");
NPU_NODE("Erfc", unary, "erfc");
NPU_NODE("Erfinv", unary, "erfinv");
NPU_NODE("Lgamma", unary, "lgamma");
NPU_NODE("Digamma", unary, "digamma");
NPU_NODE("Softsign", unary, "softsign");
NPU_NODE("Softplus", softplus);
NPU_NODE("IsFinite", unary_test, "isfinite");
NPU_NODE("IsNan", is_nan);
NPU_NODE("IsInf", is_inf);
NPU_NODE("ApproximateEqual", nearly_equal);
NPU_NODE(Kind::kAdd, binary, "add");
NPU_NODE(Kind::kSubtract, binary, "sub");
NPU_NODE(Kind::kMultiply, binary, "mul");
NPU_NODE(Kind::kDivide, binary, "div");
NPU_NODE("Maximum", ordered, "maximum");
NPU_NODE("Minimum", ordered, "minimum");
NPU_NODE(Kind::kPower, power, "pow");
NPU_NODE("Equal", binary_test, "eq");
NPU_NODE("NotEqual", binary_test, "ne");
NPU_NODE("Less", ordered_test, "lt");
NPU_NODE("LessEqual", ordered_test, "le");
NPU_NODE("Greater", ordered_test, "gt");
NPU_NODE("GreaterEqual", ordered_test, "ge");
NPU_NODE("LogicalNot", unary_test, "logical_not");
NPU_NODE("LogicalAnd", binary_test, "logical_and");
NPU_NODE("LogicalOr", binary_test, "logical_or");
NPU_NODE("DivNoNan", binary, "div_no_nan");
NPU_NODE("MulNoNan", binary, "mul_no_nan");
NPU_NODE("Xdivy", binary, "zero_or_div");
NPU_NODE("Xlogy", binary, "zero_or_log");
NPU_NODE("Xlog1py", binary, "zero_or_log1p");
NPU_NODE("SquaredDifference", ordered, "squared_difference");
NPU_NODE("Atan2", binary, "atan2");
NPU_NODE("ClipByValue", clip);
NPU_NODE("SelectV2", select, "where");
NPU_NODE("Select", select_rows);
NPU_NODE(Kind::kAddList, add_n, {}, Part::kSum);
NPU_NODE("AccumulateNV2", add_n);
NPU_NODE("TanhGrad", backward, "tanh_backward");
NPU_NODE("SigmoidGrad", backward, "sigmoid_grad");
NPU_NODE("SqrtGrad", backward, "sqrt_backward");
NPU_NODE("RsqrtGrad", backward, "rsqrt_backward");
NPU_NODE("ReciprocalGrad", backward, "reciprocal_backward");
NPU_NODE("InvGrad", backward, "reciprocal_backward");
NPU_NODE("SoftplusGrad", softplus_grad);
NPU_NODE("SoftsignGrad", softsign_grad);

}  // namespace
}  // namespace npu::graph
