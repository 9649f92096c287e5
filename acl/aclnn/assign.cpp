// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/assign.h"

#include <charconv>

#include "acl/aclnn/foreach.h"
#include "base/split.h"

namespace npu::acl {
namespace {

// One small function for each pair of argument word and field kind, chosen once a row: a call then copies its arguments
// without a decision. A pair without a function is a mistake in the table, which the row reports as its problem.
using ops::FieldKind;
using ops::Member;
using ops::Operand;

template <class T>
T& member_as(const Member& member) {
  return **std::get_if<T*>(&member);  // assigner() has looked at the field's kind
}

// Alive: phase 1 has looked, before it assigns. Members of lists are looked at here, one by one, and so are arrays.
const Tensor& tensor_of(const Argument& a) { return static_cast<const aclTensor*>(a.pointer)->tensor; }
const Scalar& scalar_of(const Argument& a) { return static_cast<const aclScalar*>(a.pointer)->scalar; }

template <class T, class F>
std::vector<T> tensors_of(const Argument& a, F&& wrap) {
  const auto& members = static_cast<const aclTensorList*>(a.pointer)->members;
  std::vector<T> out(members.size());
  for (size_t i = 0; i < members.size(); ++i)
    // A null member stays an undefined tensor: its place in the list counts.
    if (members[i] != nullptr) out[i] = wrap(live(members[i], "aclTensor"));
  return out;
}

template <class T, class F>
std::vector<T> scalars_of(const Argument& a, F&& wrap) {
  const auto& members = static_cast<const aclScalarList*>(a.pointer)->members;
  std::vector<T> out(members.size());
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i] != nullptr) out[i] = wrap(live(members[i], "aclScalar"));
  return out;
}

// The list's tensors keep their origin, so that operators may write final shapes of output lists too.
Tensor with_origin(const aclTensor& t) {
  Tensor out = t.tensor;
  out.origin = const_cast<Tensor*>(&t.tensor);
  return out;
}

Assign assign_tensor(FieldKind kind) {
  if (kind == FieldKind::kTensor)
    // The client's own object: where the size of a result is known only afterwards, it is written there.
    return [](const Argument& a, const Member& m) {
      auto& field = member_as<Tensor>(m);
      field = tensor_of(a);
      field.origin = const_cast<Tensor*>(&tensor_of(a));
    };
  if (kind == FieldKind::kOperand)
    return [](const Argument& a, const Member& m) { member_as<Operand>(m) = {tensor_of(a), Scalar()}; };
  // One where an operator takes several.
  if (kind == FieldKind::kTensorList)
    return [](const Argument& a, const Member& m) { member_as<std::vector<Tensor>>(m) = {tensor_of(a)}; };
  return nullptr;
}

Assign assign_tensor_list(FieldKind kind) {
  if (kind == FieldKind::kTensorList)
    return [](const Argument& a, const Member& m) {
      member_as<std::vector<Tensor>>(m) = tensors_of<Tensor>(a, with_origin);
    };
  if (kind == FieldKind::kOperandList)
    return [](const Argument& a, const Member& m) {
      member_as<std::vector<Operand>>(m) =
          tensors_of<Operand>(a, [](const aclTensor& t) { return Operand{.tensor = t.tensor, .scalar = {}}; });
    };
  return nullptr;
}

Assign assign_scalar(FieldKind kind) {
  switch (kind) {
    case FieldKind::kScalar: return [](const Argument& a, const Member& m) { member_as<Scalar>(m) = scalar_of(a); };
    case FieldKind::kOperand:
      return [](const Argument& a, const Member& m) { member_as<Operand>(m) = {Tensor(), scalar_of(a)}; };
    case FieldKind::kInt:
      return [](const Argument& a, const Member& m) { member_as<int64_t>(m) = scalar_of(a).to_int(); };
    case FieldKind::kDouble:
      return [](const Argument& a, const Member& m) { member_as<double>(m) = scalar_of(a).to_double(); };
    case FieldKind::kBool:
      return [](const Argument& a, const Member& m) { member_as<bool>(m) = scalar_of(a).to_bool(); };
    default: return nullptr;
  }
}

Assign assign_scalar_list(FieldKind kind) {
  if (kind == FieldKind::kScalarList)
    return [](const Argument& a, const Member& m) {
      member_as<std::vector<Scalar>>(m) = scalars_of<Scalar>(a, [](const aclScalar& s) { return s.scalar; });
    };
  if (kind == FieldKind::kOperandList)
    return [](const Argument& a, const Member& m) {
      member_as<std::vector<Operand>>(m) =
          scalars_of<Operand>(a, [](const aclScalar& s) { return Operand{.tensor = {}, .scalar = s.scalar}; });
    };
  return nullptr;
}

Assign assign_array(Word word, FieldKind kind) {
  if (word == Word::kIntArray && kind == FieldKind::kIntArray)
    // Copied, like everything a call gives: the client destroys its objects once phase 2 has returned.
    return [](const Argument& a, const Member& m) {
      member_as<std::vector<int64_t>>(m) = live(static_cast<const aclIntArray*>(a.pointer), "aclIntArray").values;
    };
  if (word == Word::kBoolArray && kind == FieldKind::kBoolArray)
    return [](const Argument& a, const Member& m) {
      member_as<std::vector<bool>>(m) = live(static_cast<const aclBoolArray*>(a.pointer), "aclBoolArray").values;
    };
  if (word == Word::kFloatArray && kind == FieldKind::kFloatArray)
    return [](const Argument& a, const Member& m) {
      member_as<std::vector<float>>(m) = live(static_cast<const aclFloatArray*>(a.pointer), "aclFloatArray").values;
    };
  return nullptr;
}

Assign assign_integer(FieldKind kind) {
  switch (kind) {
    case FieldKind::kInt: return [](const Argument& a, const Member& m) { member_as<int64_t>(m) = a.integer; };
    case FieldKind::kDouble:
      return [](const Argument& a, const Member& m) { member_as<double>(m) = static_cast<double>(a.integer); };
    case FieldKind::kBool: return [](const Argument& a, const Member& m) { member_as<bool>(m) = a.integer != 0; };
    case FieldKind::kDType:
      return [](const Argument& a, const Member& m) { member_as<DType>(m) = static_cast<DType>(a.integer); };
    case FieldKind::kScalar:
      return [](const Argument& a, const Member& m) { member_as<Scalar>(m) = Scalar(a.integer); };
    case FieldKind::kOperand:
      return [](const Argument& a, const Member& m) { member_as<Operand>(m) = {Tensor(), Scalar(a.integer)}; };
    case FieldKind::kIntArray:  // a single dimension where the operator takes several
      return [](const Argument& a, const Member& m) { member_as<std::vector<int64_t>>(m).assign(1, a.integer); };
    default: return nullptr;
  }
}

Assign assign_real(FieldKind kind) {
  switch (kind) {
    case FieldKind::kDouble: return [](const Argument& a, const Member& m) { member_as<double>(m) = a.real; };
    case FieldKind::kScalar: return [](const Argument& a, const Member& m) { member_as<Scalar>(m) = Scalar(a.real); };
    case FieldKind::kOperand:
      return [](const Argument& a, const Member& m) { member_as<Operand>(m) = {Tensor(), Scalar(a.real)}; };
    default: return nullptr;
  }
}

// A truth value is a number where an operator takes one.
Assign assign_bool(FieldKind kind) {
  if (kind == FieldKind::kScalar)
    return [](const Argument& a, const Member& m) { member_as<Scalar>(m) = Scalar(a.integer != 0); };
  if (kind == FieldKind::kOperand)
    return [](const Argument& a, const Member& m) { member_as<Operand>(m) = {Tensor(), Scalar(a.integer != 0)}; };
  return kind == FieldKind::kBool || kind == FieldKind::kInt ? assign_integer(kind) : nullptr;
}

Assign assign_string(FieldKind kind) {
  if (kind != FieldKind::kString) return nullptr;
  // The text is copied: it is the client's, and may be gone before phase 2.
  return [](const Argument& a, const Member& m) { member_as<std::string>(m) = static_cast<const char*>(a.pointer); };
}

template <class T>
T parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size(), "'{}' is not a number", text);
  return value;
}

bool parse_bool(std::string_view text) {
  require(text == "true" || text == "false", "'{}' is neither true nor false", text);
  return text == "true";
}

Scalar parse_scalar(std::string_view text) {
  if (text == "true" || text == "false") return Scalar(text == "true");
  // A point, an exponent, and the n of inf and nan: everything else is a whole number.
  if (text.find_first_of(".en") != std::string_view::npos) return Scalar(parse_number<double>(text));
  return Scalar(parse_number<int64_t>(text));
}

DType parse_dtype(std::string_view text) {
  // Numbers below 64, as Rule::types has a bit for each.
  for (int32_t number = 0; number < 64; ++number)
    if (npu::name_of(static_cast<DType>(number)) == text) return static_cast<DType>(number);
  fail(Code::kNnInvalidParam, "'{}' is not the name of a dtype", text);
}

template <class T, class F>
std::vector<T> parse_list(std::string_view text, F&& parse) {
  std::vector<T> out;
  for (const std::string_view item : split(text, ",")) out.push_back(parse(item));
  return out;
}

void read_text(std::string_view text, int64_t& to) { to = parse_number<int64_t>(text); }
void read_text(std::string_view text, double& to) { to = parse_number<double>(text); }
void read_text(std::string_view text, bool& to) { to = parse_bool(text); }
void read_text(std::string_view text, std::string& to) { to = text; }
void read_text(std::string_view text, DType& to) { to = parse_dtype(text); }
void read_text(std::string_view text, Scalar& to) { to = parse_scalar(text); }
void read_text(std::string_view text, Operand& to) { to = {Tensor(), parse_scalar(text)}; }
void read_text(std::string_view text, std::vector<int64_t>& to) {
  to = parse_list<int64_t>(text, parse_number<int64_t>);
}
void read_text(std::string_view text, std::vector<bool>& to) { to = parse_list<bool>(text, parse_bool); }
void read_text(std::string_view text, std::vector<float>& to) { to = parse_list<float>(text, parse_number<float>); }

}  // namespace

Assign assigner(Word word, ops::FieldKind kind) {
  switch (word) {
    case Word::kTensor: return assign_tensor(kind);
    case Word::kTensorList: return assign_tensor_list(kind);
    case Word::kScalar: return assign_scalar(kind);
    case Word::kScalarList: return assign_scalar_list(kind);
    case Word::kIntArray:
    case Word::kBoolArray:
    case Word::kFloatArray: return assign_array(word, kind);
    case Word::kInteger: return assign_integer(kind);
    // Some operators take the vendor's number of a dtype, the others a DType; they are the same numbers.
    case Word::kDType: return kind == FieldKind::kDType || kind == FieldKind::kInt ? assign_integer(kind) : nullptr;
    case Word::kReal: return assign_real(kind);
    case Word::kBool: return assign_bool(kind);
    case Word::kString: return assign_string(kind);
  }
  return nullptr;
}

bool is_list(Word word) { return word == Word::kTensorList || word == Word::kScalarList; }

Word member_word(Word list) {
  if (list == Word::kTensorList) return Word::kTensor;
  return list == Word::kScalarList ? Word::kScalar : list;
}

size_t list_size(Word list, const Argument& argument) {
  if (argument.pointer == nullptr) return 0;
  if (list == Word::kTensorList)
    return live(static_cast<const aclTensorList*>(argument.pointer), "aclTensorList").members.size();
  return live(static_cast<const aclScalarList*>(argument.pointer), "aclScalarList").members.size();
}

Argument list_member(Word list, const Argument& argument, size_t index) {
  if (list == Word::kTensorList) return static_cast<const aclTensorList*>(argument.pointer)->members[index];
  return static_cast<const aclScalarList*>(argument.pointer)->members[index];
}

bool is_pointer(Word word) {
  return word != Word::kInteger && word != Word::kReal && word != Word::kBool && word != Word::kDType;
}

void assign_text(std::string_view text, const Member& member) {
  std::visit(
      [&]<class T>(T* to) {
        // Tensors and programs have no spelling in a table.
        if constexpr (requires { read_text(text, *to); })
          read_text(text, *to);
        else
          fail(Code::kNnInvalidParam, "a constant cannot fill a field of kind {}", name_of(ops::detail::kind_of<T>()));
      },
      member);
}

std::vector<Tensor*> field_tensors(const ops::Field& field, ops::Operator& op) {
  std::vector<Tensor*> out;
  ops::for_each_tensor(field, op, [&](Tensor& tensor) { out.push_back(&tensor); });
  return out;
}

// Fields only: what prepare makes of them belongs to the operator it was made for.
void copy_field(const ops::Field& field, ops::Operator& from, ops::Operator& to) {
  std::visit([&]<class T>(const T* value) { field.of<T>(to) = *value; }, field.locate(from));
}

std::unique_ptr<ops::Operator> clone(ops::Operator& from) {
  if (const auto* members = from.members()) {
    auto all = std::make_unique<Foreach>(*from.def);
    for (const auto& member : *members) all->add(clone(*member));
    return all;
  }
  std::unique_ptr<ops::Operator> to = ops::create(*from.def);
  for (const ops::Field& field : from.def->fields) copy_field(field, from, *to);
  return to;
}

std::string_view name_of(ops::FieldKind kind) {
  static constexpr std::string_view kNames[] = {"tensor",      "tensor list", "operand",    "operand list", "scalar",
                                                "scalar list", "int array",   "bool array", "float array",  "int",
                                                "double",      "bool",        "dtype",      "string",       "program"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace npu::acl
