// SPDX-License-Identifier: Apache-2.0
// Element by element: one line each. The output has the broadcast shape of the inputs, and their type unless the line
// gives another.
#include <span>

#include "graph/lowering.h"

namespace npu::graph {
namespace {

/// Fields that take the inputs, in order, by their number.
constexpr std::string_view kUnary[] = {"self"};
constexpr std::string_view kBinary[] = {"self", "other"};
constexpr std::string_view kPower[] = {"self", "exponent"};
constexpr std::string_view kSelect[] = {"condition", "self", "other"};

Dims broadcast_shape(const Lowering& l) {
  Dims shape = l.shape(0);
  for (size_t i = 1; i < l.input_count(); ++i) shape = broadcast(shape, l.shape(i));
  return shape;
}

void emit(Lowering& l, std::span<const std::string_view> fields, DType dtype) {
  const Planned out = l.make(0, dtype, broadcast_shape(l));
  OperatorCall call = l.call(l.target());
  for (size_t i = 0; i < fields.size(); ++i) call.set(fields[i], l.input(i));
  call.set("out", out);
}

void unary(Lowering& l) { emit(l, kUnary, l.dtype(0)); }
void binary(Lowering& l) { emit(l, kBinary, l.dtype(0)); }
void unary_test(Lowering& l) { emit(l, kUnary, DType::kBool); }
void binary_test(Lowering& l) { emit(l, kBinary, DType::kBool); }
void power(Lowering& l) { emit(l, kPower, l.dtype(0)); }
void select(Lowering& l) { emit(l, kSelect, l.dtype(1)); }

NPU_NODE("Neg", unary, "neg");
NPU_NODE("Exp", unary, "exp");
NPU_NODE("Log", unary, "log");
NPU_NODE("Log1p", unary, "log1p");
NPU_NODE("Sqrt", unary, "sqrt");
NPU_NODE("Rsqrt", unary, "rsqrt");
NPU_NODE("Square", unary, "square");
NPU_NODE("Abs", unary, "abs");
NPU_NODE("Sign", unary, "sign");
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
NPU_NODE("AddV2", binary, "add");
NPU_NODE("Add", binary, "add");
NPU_NODE("Sub", binary, "sub");
NPU_NODE("Mul", binary, "mul");
NPU_NODE("RealDiv", binary, "div");
NPU_NODE("Maximum", binary, "maximum");
NPU_NODE("Minimum", binary, "minimum");
NPU_NODE("Pow", power, "pow");
NPU_NODE("Equal", binary_test, "eq");
NPU_NODE("NotEqual", binary_test, "ne");
NPU_NODE("Less", binary_test, "lt");
NPU_NODE("LessEqual", binary_test, "le");
NPU_NODE("Greater", binary_test, "gt");
NPU_NODE("GreaterEqual", binary_test, "ge");
NPU_NODE("LogicalNot", unary_test, "logical_not");
NPU_NODE("LogicalAnd", binary_test, "logical_and");
NPU_NODE("LogicalOr", binary_test, "logical_or");
NPU_NODE("SelectV2", select, "where");

}  // namespace
}  // namespace npu::graph
