// SPDX-License-Identifier: Apache-2.0
// What an operator is: a struct of arguments, a rule (`prepare`) and a kernel (`run`), registered once under a name.
//
//   struct Addmm final : Operator {
//     Tensor self, mat1, mat2, out;
//     Scalar beta = 1, alpha = 1;
//     void prepare() override;   // phase 1: check shapes and dtypes, plan. Throws Error; owns all it needs afterwards
//     void run() override;       // phase 2: compute. Must not fail
//   };
//   NPU_OPERATOR(Addmm, "addmm", "matmul", in<&Addmm::self>("self"), …, out<&Addmm::out>("out"));
//
// Clients name an operator in one line of data (acl/aclnn/functions.tsv): the arguments of the line are matched with
// the fields by name. Tests, docs and `anynpu ops` iterate the registry.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/scalar.h"
#include "base/tensor.h"

namespace npu::ops {

/// A tensor or a host number: what most binary operators take on either side.
struct Operand {
  Tensor tensor;
  Scalar scalar;
  bool is_scalar() const { return scalar.defined(); }
  bool defined() const { return scalar.defined() || tensor.defined(); }
  DType dtype() const { return is_scalar() ? scalar.dtype() : tensor.dtype; }
};

class ChainProgram;  // vector/chain/chain.h

/// Where a field of an operator is, by the type of what it holds. Numbers (int64_t, double, bool) accept any C number
/// of the door, and a host scalar.
using Member = std::variant<Tensor*, std::vector<Tensor>*, Operand*, std::vector<Operand>*, Scalar*,
                            std::vector<Scalar>*, std::vector<int64_t>*, std::vector<bool>*, std::vector<float>*,
                            int64_t*, double*, bool*, DType*, std::string*, std::shared_ptr<const ChainProgram>*>;

/// The types of Member by name: a kind is the position of its type.
enum class FieldKind : uint8_t {
  kTensor,
  kTensorList,
  kOperand,
  kOperandList,
  kScalar,
  kScalarList,
  kIntArray,
  kBoolArray,
  kFloatArray,
  kInt,
  kDouble,
  kBool,
  kDType,
  kString,
  kProgram,
};

enum class FieldRole : uint8_t {
  kIn,        ///< read; must be given
  kOptional,  ///< read; may be left out
  kOut,       ///< written; must be given
  kOptionalOut,
  kInOut,  ///< read and written
  kAttr,   ///< a value; keeps the struct's default when the client's line does not name it
};

class Operator;

struct Field {
  std::string_view name;
  FieldKind kind;
  FieldRole role;
  Member (*locate)(Operator&);  ///< the member of an operator of this definition

  /// Of a field that holds a T; std::bad_variant_access otherwise.
  template <class T>
  T& of(Operator& op) const {
    return *std::get<T*>(locate(op));
  }
  bool is_result() const {
    return role == FieldRole::kOut || role == FieldRole::kOptionalOut || role == FieldRole::kInOut;
  }
};

struct OperatorDef;

/// What an operator is, declared where it is registered. tests/conformance/test_traits.py proves each by running it.
enum Trait : uint8_t {
  /// Each element of its results is one of an input (perhaps with another sign), or a number that the call gives: an
  /// infinity in a result was one before, so there is no overflow to look for.
  kMovesBits = 1,
  kCasts = 2,       ///< the result may be of a type that holds less, and then a value can overflow
  kPointwise = 4,   ///< reads an element of each input before it writes that element of the output
  kTakesChain = 8,  ///< has a field `chain`: what goes over each piece of the result while it is in the cache
  kImages = 16,     ///< its tensors are images, which it likes best with their channels last
};
using Traits = uint8_t;
constexpr Traits kTraits[] = {kMovesBits, kCasts, kPointwise, kTakesChain, kImages};
/// "moves_bits pointwise", as the door shows them.
std::string to_string(Traits traits);

/// One prepared call. It owns copies of everything it needs; only device memory stays with the client.
class Operator {
 public:
  virtual ~Operator() = default;
  /// Checks every argument and plans. Throws Error (161002 and a sentence) on bad arguments.
  virtual void prepare() = 0;
  /// Computes. Called after prepare, possibly several times and from another thread. Must not throw.
  virtual void run() = 0;
  /// Called instead of prepare when nothing but the addresses of tensors changed since it was called last.
  virtual void moved() { prepare(); }
  /// Rough cost in nanoseconds; decides whether the call may run in the caller's thread.
  virtual int64_t cost() const { return 1 << 20; }
  /// The operators that this one stands for, of the same definition, where it is a list of calls; its own fields then
  /// mean nothing. Null for all others.
  virtual const std::vector<std::unique_ptr<Operator>>* members() const { return nullptr; }

  const OperatorDef* def = nullptr;
};

struct OperatorDef {
  std::string_view name;
  std::string_view family;
  std::vector<Field> fields;
  std::unique_ptr<Operator> (*create)(const OperatorDef&);
  const void* data = nullptr;  ///< for families: what makes this member of the family different (its kernels)
  Traits traits = 0;           ///< what it declares of itself

  bool is(Trait trait) const { return (traits & trait) != 0; }
  const Field* field(std::string_view field_name) const;
};

/// The registry. Filled by static registrations; read-only afterwards.
const OperatorDef* find_operator(std::string_view name);
std::vector<const OperatorDef*> all_operators();
/// A new call of `def`, fields at their defaults.
std::unique_ptr<Operator> create(const OperatorDef& def);

class Registration {
 public:
  Registration(std::string_view name, std::string_view family, std::vector<Field> fields,
               std::unique_ptr<Operator> (*create)(const OperatorDef&), const void* data = nullptr);
  /// Declares traits beside those that the fields tell.
  Registration& is(Traits traits);

 private:
  OperatorDef& def_;
};

namespace detail {

template <class T>
struct MemberOf;
template <class C, class T>
struct MemberOf<T C::*> {
  using Class = C;
  using Type = T;
};

template <class T, size_t... I>
constexpr size_t position_of(std::index_sequence<I...>) {
  return ((std::is_same_v<T*, std::variant_alternative_t<I, Member>> ? I + 1 : 0) + ... + 0) - 1;
}
template <class T>
constexpr FieldKind kind_of() {
  constexpr size_t kPosition = position_of<T>(std::make_index_sequence<std::variant_size_v<Member>>());
  static_assert(kPosition < std::variant_size_v<Member>, "a field of this type cannot cross the door");
  return static_cast<FieldKind>(kPosition);
}
static_assert(kind_of<std::string>() == FieldKind::kString && kind_of<DType>() == FieldKind::kDType &&
              kind_of<std::vector<float>>() == FieldKind::kFloatArray && kind_of<Scalar>() == FieldKind::kScalar);

template <auto Pointer>
constexpr Field make_field(std::string_view name, FieldRole role) {
  using M = MemberOf<decltype(Pointer)>;
  return {name, kind_of<typename M::Type>(), role,
          [](Operator& op) -> Member { return &(static_cast<typename M::Class&>(op).*Pointer); }};
}

}  // namespace detail

// clang-format off
template <auto M> constexpr Field in(std::string_view name) { return detail::make_field<M>(name, FieldRole::kIn); }
template <auto M> constexpr Field optional(std::string_view name) { return detail::make_field<M>(name, FieldRole::kOptional); }
template <auto M> constexpr Field out(std::string_view name) { return detail::make_field<M>(name, FieldRole::kOut); }
template <auto M> constexpr Field optional_out(std::string_view name) { return detail::make_field<M>(name, FieldRole::kOptionalOut); }
template <auto M> constexpr Field inout(std::string_view name) { return detail::make_field<M>(name, FieldRole::kInOut); }
template <auto M> constexpr Field attr(std::string_view name) { return detail::make_field<M>(name, FieldRole::kAttr); }
// clang-format on

/// Calls visit(tensor) for each tensor that a member holds; members without any are passed over.
template <class Visit>
void for_each_tensor(const Member& member, Visit&& visit) {
  if (auto* const* tensor = std::get_if<Tensor*>(&member)) {
    visit(**tensor);
  } else if (auto* const* operand = std::get_if<Operand*>(&member)) {
    visit((*operand)->tensor);
  } else if (auto* const* tensors = std::get_if<std::vector<Tensor>*>(&member)) {
    for (Tensor& one : **tensors) visit(one);
  } else if (auto* const* operands = std::get_if<std::vector<Operand>*>(&member)) {
    for (Operand& one : **operands) visit(one.tensor);
  }
}
template <class Visit>
void for_each_tensor(const Field& field, Operator& op, Visit&& visit) {
  for_each_tensor(field.locate(op), visit);
}

/// Calls visit(tensor, field) for each tensor of an operator; of a list of calls, those of every member.
template <class Visit>
void for_each_tensor(Operator& op, Visit&& visit) {
  if (const auto* members = op.members()) {
    for (const auto& member : *members) for_each_tensor(*member, visit);
    return;
  }
  for (const Field& field : op.def->fields) for_each_tensor(field, op, [&](Tensor& tensor) { visit(tensor, field); });
}

template <class T>
std::unique_ptr<Operator> make(const OperatorDef&) {
  return std::make_unique<T>();
}

}  // namespace npu::ops

/// Registers operator class `type` as `name` of `family`. Traits follow: NPU_OPERATOR(Tril, …).is(kMovesBits);
#define NPU_OPERATOR(type, name, family, ...)      \
  const ::npu::ops::Registration register_##type = \
      ::npu::ops::Registration(name, family, {__VA_ARGS__}, &::npu::ops::make<type>)
