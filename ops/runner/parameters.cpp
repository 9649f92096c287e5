// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include "ops/runner/observer.h"

namespace npu::ops {
namespace {

std::string text_of(const Scalar& scalar) {
  if (!scalar.defined()) return "none";
  if (scalar.is_integral()) return fmt::format("{}", scalar.to_int());
  const Complex128 value = scalar.to_complex();
  return value.imag() == 0 ? fmt::format("{}", value.real()) : fmt::format("{}+{}j", value.real(), value.imag());
}

std::string text_of(const std::vector<Scalar>& scalars) {
  std::string text;
  for (const Scalar& scalar : scalars) text += (text.empty() ? "" : ", ") + text_of(scalar);
  return fmt::format("[{}]", text);
}

template <class T>
std::string text_of(const std::vector<T>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}
std::string text_of(const std::string& text) { return text; }
std::string text_of(DType dtype) { return std::string(name_of(dtype)); }
template <class T>
  requires std::is_arithmetic_v<T>
std::string text_of(T number) {
  return fmt::format("{}", number);
}
std::string text_of(const std::shared_ptr<const ChainProgram>& program) { return program ? "a chain" : "none"; }

constexpr bool holds_tensors(FieldKind kind) { return kind <= FieldKind::kOperandList; }

std::string text_of(const Member& member) {
  return std::visit(
      [](const auto* value) -> std::string {
        using T = std::remove_cvref_t<decltype(*value)>;
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Operand> ||
                      std::is_same_v<T, std::vector<Tensor>> || std::is_same_v<T, std::vector<Operand>>)
          return "";
        else
          return text_of(*value);
      },
      member);
}

void add(Operator& op, Parameters& parameters) {
  for (const Field& field : op.def->fields) {
    const Member member = field.locate(op);
    if (!holds_tensors(field.kind))
      parameters.emplace_back(field.name, text_of(member));
    else if (auto* const* operand = std::get_if<Operand*>(&member); operand != nullptr && (*operand)->is_scalar())
      parameters.emplace_back(field.name, text_of((*operand)->scalar));
  }
}

}  // namespace

Parameters parameters_of(Operator& op) {
  Parameters parameters;
  if (const auto* members = op.members())
    for (const auto& member : *members) add(*member, parameters);
  else if (op.def != nullptr)
    add(op, parameters);
  return parameters;
}

}  // namespace npu::ops
