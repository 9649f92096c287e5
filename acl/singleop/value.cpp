// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/value.h"

#include "acl/aclnn/assign.h"

namespace npu::acl {
namespace {

using ops::FieldKind;

[[noreturn]] void refuse(std::string_view what, std::string_view wanted) {
  fail(Code::kInvalidParam, "{} must be {}", what, wanted);
}

// Planning needs numbers now; those in device memory may still be on their way.
const Tensor& host_tensor(const Value& value, std::string_view what) {
  const Tensor* tensor = value.tensor();
  if (tensor == nullptr) refuse(what, "a number, or numbers");
  if (!value.host)
    fail(Code::kInvalidParam,
         "the values of {} must be known when the operator is called; give them with aclSetTensorConst, or in host "
         "memory with aclSetTensorPlaceMent",
         what);
  return *tensor;
}

// Dense and row-major, as the client's buffers are.
std::vector<Scalar> scalars_of(const Tensor& tensor) {
  std::vector<Scalar> out;
  for (int64_t i = 0; i < tensor.count(); ++i)
    out.emplace_back(tensor.bytes() + i * static_cast<int64_t>(size_of(tensor.dtype)), tensor.dtype);
  return out;
}

Scalar scalar_of(const aclopAttr::Value& value, std::string_view what) {
  if (const auto* flag = std::get_if<bool>(&value)) return Scalar(*flag);
  if (const auto* whole = std::get_if<int64_t>(&value)) return Scalar(*whole);
  if (const auto* real = std::get_if<float>(&value)) return Scalar(static_cast<double>(*real));
  // A list of one number is a number too.
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value); list != nullptr && list->size() == 1)
    return Scalar(list->front());
  if (const auto* list = std::get_if<std::vector<float>>(&value); list != nullptr && list->size() == 1)
    return Scalar(static_cast<double>(list->front()));
  refuse(what, "a number");
}

Scalar scalar_of(const Value& value, std::string_view what) {
  if (const auto* attribute = std::get_if<aclopAttr::Value>(&value.content)) return scalar_of(*attribute, what);
  const std::vector<Scalar> scalars = scalars_of(host_tensor(value, what));
  if (scalars.size() != 1) fail(Code::kInvalidParam, "{} must be one number, it holds {}", what, scalars.size());
  return scalars.front();
}

std::vector<float> reals_of(const Value& value, std::string_view what) {
  std::vector<float> out;
  if (const auto* attribute = std::get_if<aclopAttr::Value>(&value.content)) {
    if (const auto* reals = std::get_if<std::vector<float>>(attribute)) return *reals;
    // A number where a list is meant stands for a list of one.
    return {static_cast<float>(scalar_of(*attribute, what).to_double())};
  }
  for (const Scalar& scalar : scalars_of(host_tensor(value, what)))
    out.push_back(static_cast<float>(scalar.to_double()));
  return out;
}

std::vector<bool> flags_of(const Value& value, std::string_view what) {
  if (const auto* attribute = std::get_if<aclopAttr::Value>(&value.content)) {
    if (const auto* flags = std::get_if<std::vector<bool>>(attribute)) return *flags;
  }
  refuse(what, "a list of truth values");
}

const std::string& text_of(const Value& value, std::string_view what) {
  const auto* attribute = std::get_if<aclopAttr::Value>(&value.content);
  const auto* text = attribute == nullptr ? nullptr : std::get_if<std::string>(attribute);
  if (text == nullptr) refuse(what, "a text");
  return *text;
}

DType dtype_of(const Value& value, std::string_view what) {
  const auto* attribute = std::get_if<aclopAttr::Value>(&value.content);
  if (attribute != nullptr)
    if (const auto* dtype = std::get_if<DType>(attribute)) return *dtype;
  return static_cast<DType>(scalar_of(value, what).to_int());
}

const Tensor& device_tensor(const Value& value, std::string_view what) {
  if (value.tensor() == nullptr) refuse(what, "a tensor");
  return *value.tensor();
}

std::vector<Tensor> tensors_of(const Value& value, std::string_view what) {
  if (const auto* list = std::get_if<std::vector<Tensor>>(&value.content)) return *list;
  return {device_tensor(value, what)};
}

ops::Operand operand_of(const Value& value, std::string_view what) {
  if (const Tensor* tensor = value.tensor()) return {*tensor, Scalar()};
  return {Tensor(), scalar_of(value, what)};
}

void read(const Value& value, std::string_view what, Tensor& to) { to = device_tensor(value, what); }
void read(const Value& value, std::string_view what, std::vector<Tensor>& to) { to = tensors_of(value, what); }
void read(const Value& value, std::string_view what, ops::Operand& to) { to = operand_of(value, what); }
void read(const Value& value, std::string_view what, Scalar& to) { to = scalar_of(value, what); }
void read(const Value& value, std::string_view what, std::vector<int64_t>& to) { to = integers_of(value, what); }
void read(const Value& value, std::string_view what, std::vector<bool>& to) { to = flags_of(value, what); }
void read(const Value& value, std::string_view what, std::vector<float>& to) { to = reals_of(value, what); }
void read(const Value& value, std::string_view what, int64_t& to) { to = scalar_of(value, what).to_int(); }
void read(const Value& value, std::string_view what, double& to) { to = scalar_of(value, what).to_double(); }
void read(const Value& value, std::string_view what, bool& to) { to = scalar_of(value, what).to_bool(); }
void read(const Value& value, std::string_view what, DType& to) { to = dtype_of(value, what); }
void read(const Value& value, std::string_view what, std::string& to) { to = text_of(value, what); }

}  // namespace

std::vector<int64_t> integers_of(const Value& value, std::string_view what) {
  // Texts of the table are read like constants of the aclnn tables: one spelling for both.
  if (const auto* text = std::get_if<TableText>(&value.content)) {
    std::vector<int64_t> out;
    assign_text(text->text, &out);
    return out;
  }
  if (const auto* attribute = std::get_if<aclopAttr::Value>(&value.content)) {
    if (const auto* list = std::get_if<std::vector<int64_t>>(attribute)) return *list;
    return {scalar_of(*attribute, what).to_int()};
  }
  const Tensor& tensor = host_tensor(value, what);
  if (!is_integer(tensor.dtype)) fail(Code::kInvalidParam, "{} is {}; it must hold whole numbers", what, tensor);
  std::vector<int64_t> out;
  for (const Scalar& scalar : scalars_of(tensor)) out.push_back(scalar.to_int());
  return out;
}

bool truth_of(const Value& value, std::string_view what) {
  if (const auto* text = std::get_if<TableText>(&value.content)) return text->text == "true";
  return scalar_of(value, what).to_bool();
}

double real_of(const Value& value, std::string_view what) { return scalar_of(value, what).to_double(); }

std::string word_of(const Value& value, std::string_view what) {
  if (const auto* text = std::get_if<TableText>(&value.content)) return std::string(text->text);
  return text_of(value, what);
}

void store(const Value& value, const ops::Field& field, ops::Operator& op, std::string_view what) {
  const ops::Member member = field.locate(op);
  if (const auto* text = std::get_if<TableText>(&value.content)) return assign_text(text->text, member);
  std::visit(
      [&]<class T>(T* to) {
        if constexpr (requires { read(value, what, *to); })
          read(value, what, *to);
        else
          // The table's mistake and not the client's: a field that no value can become.
          fail(Code::kInternal, "{} cannot fill a field of kind {}", what, name_of(field.kind));
      },
      member);
}

bool equals_text(const aclopAttr::Value& value, std::string_view text) {
  if (const auto* flag = std::get_if<bool>(&value)) return (*flag ? "true" : "false") == text;
  if (const auto* word = std::get_if<std::string>(&value)) return *word == text;
  if (const auto* real = std::get_if<float>(&value)) {
    double wanted = 0;
    assign_text(text, &wanted);
    // Compared as floats, as the attribute is one: 0.1 in the table means the nearest float.
    return *real == static_cast<float>(wanted);
  }
  // No operator of the table reads one.
  if (std::holds_alternative<std::vector<std::string>>(value) || std::holds_alternative<std::vector<DType>>(value))
    return false;
  std::vector<int64_t> wanted;
  assign_text(text, &wanted);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return *list == wanted;
  const auto* whole = std::get_if<int64_t>(&value);
  return whole != nullptr && wanted.size() == 1 && *whole == wanted.front();
}

}  // namespace npu::acl
