// SPDX-License-Identifier: Apache-2.0
// Operators that go element by element and are no line of the table: those with numbers of their own, those of any
// number of inputs, those whose meaning depends on the type. All are said in words that fuse.
#include <limits>

#include "graph/import/onnx/tensor.h"
#include "graph/import/onnx/translation.h"

namespace npu::graph::onnx {
namespace {

Edge add(Translation& t, Edge a, Edge b) { return t.point("AddV2", {a, b}); }
Edge multiply(Translation& t, Edge a, Edge b) { return t.point("Mul", {a, b}); }
/// Kernels of the engine take uint64 for int64 where that makes no difference; here it does.
bool is_wide(Translation& t) { return t.dtype(t.in(0)) == DType::kUInt64; }

std::string_view maximum_of(Translation& t) { return is_wide(t) ? "ai.onnx::UnsignedMax" : "Maximum"; }
std::string_view minimum_of(Translation& t) { return is_wide(t) ? "ai.onnx::UnsignedMin" : "Minimum"; }
Edge maximum(Translation& t, Edge a, Edge b) { return t.point(maximum_of(t), {a, b}); }
Edge minimum(Translation& t, Edge a, Edge b) { return t.point(minimum_of(t), {a, b}); }
Edge number_like(Translation& t, Edge x, double value) { return t.number(t.dtype(x), value); }

void binary(Translation& t, std::string_view op) { t.give(0, t.point(op, {t.in(0), t.in(1)})); }

void add_two(Translation& t) { binary(t, "AddV2"); }
void subtract(Translation& t) { binary(t, "Sub"); }
void multiply_two(Translation& t) { binary(t, "Mul"); }
void divide(Translation& t) {
  binary(t, is_wide(t) ? "ai.onnx::UnsignedDiv" : is_integer(t.dtype(t.in(0))) ? "TruncateDiv" : "RealDiv");
}

void absolute(Translation& t) { t.give(0, t.point(is_wide(t) ? "Identity" : "Abs", {t.in(0)})); }
void sign(Translation& t) {
  const Edge x = t.in(0);
  t.give(0, is_wide(t) ? minimum(t, x, number_like(t, x, 1)) : Edge(t.point("Sign", {x})));
}

/// x op y as bool, of uint64 as `wide` of them; `turned`: y wide x.
void compare(Translation& t, std::string_view op, std::string_view wide, bool turned) {
  const Edge x = t.in(0), y = t.in(1);
  if (!is_wide(t)) return t.give(0, t.point(op, {x, y}, DType::kBool));
  t.give(0, t.point(wide, {turned ? y : x, turned ? x : y}, DType::kBool));
}
void less(Translation& t) { compare(t, "Less", "ai.onnx::UnsignedLess", false); }
void less_or_equal(Translation& t) { compare(t, "LessEqual", "ai.onnx::UnsignedLessEqual", false); }
void greater(Translation& t) { compare(t, "Greater", "ai.onnx::UnsignedLess", true); }
void greater_or_equal(Translation& t) { compare(t, "GreaterEqual", "ai.onnx::UnsignedLessEqual", true); }

/// A number that is known to be 2, as exporters write squares.
bool is_two(const Literal* number) {
  if (number == nullptr || !number->bytes || !number->shape.empty()) return false;
  const DType type = number->type.dtype;
  if (type == DType::kFloat) return *number->as<float>() == 2;
  if (type == DType::kDouble) return *number->as<double>() == 2;
  return type == DType::kInt64 && *number->as<int64_t>() == 2;
}

/// The exponent has a type of its own.
void power(Translation& t) {
  if (is_two(t.literal(t.in(1)))) return t.give(0, t.point("Square", {t.in(0)}));
  const DType base = t.dtype(t.in(0)), exponent = t.dtype(t.in(1));
  if (is_integer(base) && is_floating(exponent)) {
    const Edge result = t.point("Pow", {t.cast(t.in(0), exponent), t.in(1)});
    return t.give(0, t.cast(result, base));
  }
  t.give(0, t.point("Pow", {t.in(0), t.cast(t.in(1), base)}));
}

void modulo(Translation& t) {
  const bool truncates = t.attribute<int64_t>("fmod", 0) != 0;
  binary(t, is_wide(t) ? "ai.onnx::UnsignedMod" : truncates ? "TruncateMod" : "FloorMod");
}

void shift(Translation& t) {
  const bool left = t.required<std::string>("direction") == "LEFT";
  if (is_wide(t)) return binary(t, left ? "ai.onnx::UnsignedLeftShift" : "ai.onnx::UnsignedRightShift");
  binary(t, left ? "LeftShift" : "RightShift");
}

/// One after the other; a single one is itself.
Edge folded(Translation& t, std::string_view op) {
  Edge all = t.in(0);
  for (size_t i = 1; i < t.input_count(); ++i) all = t.point(op, {all, t.in(i)});
  return t.input_count() == 1 ? Edge(t.point("Identity", {all})) : all;
}
void sum(Translation& t) { t.give(0, folded(t, "AddV2")); }
void largest(Translation& t) { t.give(0, folded(t, maximum_of(t))); }
void smallest(Translation& t) { t.give(0, folded(t, minimum_of(t))); }
void mean(Translation& t) {
  const Edge all = folded(t, "AddV2");
  t.give(0, t.point("RealDiv", {all, number_like(t, all, static_cast<double>(t.input_count()))}));
}

void where(Translation& t) { t.give(0, t.point("SelectV2", {t.in(0), t.in(1), t.in(2)}, t.dtype(t.in(1)))); }

/// Ends are attributes before opset 11, inputs from then on; either may be left out.
void clip(Translation& t) {
  Edge x = t.in(0);
  const auto end = [&](size_t input, const char* name) -> std::optional<Edge> {
    if (t.has(input)) return t.in(input);
    if (t.has_attribute(name)) return number_like(t, x, t.attribute<double>(name, 0));
    return std::nullopt;
  };
  const auto low = end(1, "min"), high = end(2, "max");
  if (low) x = maximum(t, x, *low);
  if (high) x = minimum(t, x, *high);
  t.give(0, low || high ? x : Edge(t.point("Identity", {x})));
}

void cast_to(Translation& t, Edge x, DType to) {
  if (t.dtype(x) == DType::kString || to == DType::kString)
    t.refuse("texts are turned into numbers and back by the program around the model, not on the NPU");
  t.give(0, t.dtype(x) == to ? Edge(t.point("Identity", {x})) : t.cast(x, to));
}
void cast(Translation& t) {
  const auto number = t.required<int64_t>("to");
  if (element_type(number) == DType::kUndefined)
    t.refuse(fmt::format("{} is a type that the NPU does not compute", element_name(number)));
  cast_to(t, t.in(0), element_type(number));
}
void cast_like(Translation& t) { cast_to(t, t.in(0), t.dtype(t.in(1))); }

// Activations, as the formulas of ONNX's documentation say.

void leaky_relu(Translation& t) {
  t.give(0, t.point("LeakyRelu", {t.in(0)}).with("alpha", t.attribute<double>("alpha", 0.01)));
}
void selu(Translation& t) {
  const Edge x = t.in(0), zero = number_like(t, x, 0);
  const double alpha = t.attribute<double>("alpha", 1.67326319217681884765625);
  const double gamma = t.attribute<double>("gamma", 1.05070102214813232421875);
  const Edge curve = multiply(t, number_like(t, x, alpha * gamma), t.point("Expm1", {minimum(t, x, zero)}));
  t.give(0, add(t, curve, multiply(t, number_like(t, x, gamma), maximum(t, x, zero))));
}
void celu(Translation& t) {
  const Edge x = t.in(0), zero = number_like(t, x, 0);
  const double alpha = t.attribute<double>("alpha", 1);
  const Edge scaled = multiply(t, minimum(t, x, zero), number_like(t, x, 1 / alpha));
  t.give(0, add(t, maximum(t, x, zero), multiply(t, number_like(t, x, alpha), t.point("Expm1", {scaled}))));
}
Edge hard_sigmoid_of(Translation& t, double alpha, double beta) {
  const Edge x = t.in(0);
  const Edge line = add(t, multiply(t, x, number_like(t, x, alpha)), number_like(t, x, beta));
  return maximum(t, minimum(t, line, number_like(t, x, 1)), number_like(t, x, 0));
}
void hard_sigmoid(Translation& t) {
  t.give(0, hard_sigmoid_of(t, t.attribute<double>("alpha", 0.2), t.attribute<double>("beta", 0.5)));
}
void hard_swish(Translation& t) { t.give(0, multiply(t, t.in(0), hard_sigmoid_of(t, 1. / 6, 0.5))); }
void thresholded_relu(Translation& t) {
  const Edge x = t.in(0);
  const Edge above = t.point("Greater", {x, number_like(t, x, t.attribute<double>("alpha", 1))}, DType::kBool);
  t.give(0, t.point("SelectV2", {above, x, number_like(t, x, 0)}, t.dtype(x)));
}
void shrink(Translation& t) {
  const Edge x = t.in(0);
  const double lambd = t.attribute<double>("lambd", 0.5), bias = t.attribute<double>("bias", 0);
  const Edge below = t.point("Less", {x, number_like(t, x, -lambd)}, DType::kBool);
  const Edge above = t.point("Greater", {x, number_like(t, x, lambd)}, DType::kBool);
  const Edge raised = add(t, x, number_like(t, x, bias)), lowered = t.point("Sub", {x, number_like(t, x, bias)});
  const Edge right = t.point("SelectV2", {above, lowered, number_like(t, x, 0)}, t.dtype(x));
  t.give(0, t.point("SelectV2", {below, raised, right}, t.dtype(x)));
}
/// Numbers without a sign stay.
void prelu(Translation& t) {
  const Edge x = t.in(0), slope = t.in(1);
  if (is_wide(t)) return t.give(0, t.point("Identity", {x}));
  const Edge below = t.point("Less", {x, number_like(t, x, 0)}, DType::kBool);
  t.give(0, t.point("SelectV2", {below, multiply(t, x, slope), x}, t.dtype(x)));
}
void gelu(Translation& t) {
  const Edge x = t.in(0), half = number_like(t, x, 0.5), one = number_like(t, x, 1);
  Edge inner = multiply(t, x, number_like(t, x, 0.70710678118654752440));
  if (t.attribute<std::string>("approximate", "none") == "tanh") {
    const Edge cube = multiply(t, multiply(t, x, x), x);
    inner = add(t, x, multiply(t, cube, number_like(t, x, 0.044715)));
    inner = t.point("Tanh", {multiply(t, inner, number_like(t, x, 0.79788456080286535588))});
  } else {
    inner = t.point("Erf", {inner});
  }
  t.give(0, multiply(t, multiply(t, x, half), add(t, inner, one)));
}
/// x · sigmoid(alpha · x)
void swish(Translation& t) {
  const Edge x = t.in(0);
  const double alpha = t.attribute<double>("alpha", 1);
  const Edge scaled = alpha == 1 ? x : multiply(t, x, number_like(t, x, alpha));
  t.give(0, multiply(t, x, t.point("Sigmoid", {scaled})));
}
void mish(Translation& t) { t.give(0, multiply(t, t.in(0), t.point("Tanh", {t.point("Softplus", {t.in(0)})}))); }

NPU_ONNX("Add", add_two);
NPU_ONNX("Sub", subtract);
NPU_ONNX("Mul", multiply_two);
NPU_ONNX("Div", divide);
NPU_ONNX("Abs", absolute);
NPU_ONNX("Sign", sign);
NPU_ONNX("Less", less);
NPU_ONNX("LessOrEqual", less_or_equal);
NPU_ONNX("Greater", greater);
NPU_ONNX("GreaterOrEqual", greater_or_equal);
NPU_ONNX("Pow", power);
NPU_ONNX("Mod", modulo);
NPU_ONNX("BitShift", shift);
NPU_ONNX("Sum", sum);
NPU_ONNX("Mean", mean);
NPU_ONNX("Max", largest);
NPU_ONNX("Min", smallest);
NPU_ONNX("Where", where);
NPU_ONNX("Clip", clip);
NPU_ONNX("Cast", cast);
NPU_ONNX("CastLike", cast_like);
NPU_ONNX("LeakyRelu", leaky_relu);
NPU_ONNX("Selu", selu);
NPU_ONNX("Celu", celu);
NPU_ONNX("HardSigmoid", hard_sigmoid);
NPU_ONNX("HardSwish", hard_swish);
NPU_ONNX("ThresholdedRelu", thresholded_relu);
NPU_ONNX("Shrink", shrink);
NPU_ONNX("PRelu", prelu);
NPU_ONNX("Gelu", gelu);
NPU_ONNX("Swish", swish);
NPU_ONNX("Mish", mish);

}  // namespace
}  // namespace npu::graph::onnx
