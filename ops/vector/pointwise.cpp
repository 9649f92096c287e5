// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/pointwise.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace npu::ops {
namespace {

constexpr size_t kMaxInputs = 4;

struct Pointwise final : Operator {
  Operand inputs[kMaxInputs];
  Tensor out;
  Elementwise loop;

  const PointOp& op() const { return *static_cast<const PointOp*>(def->data); }
  void prepare() override;
  void run() override { loop.run(); }
  int64_t cost() const override { return loop.cost(); }

 private:
  const PointKernel& choose(DType promoted) const;
};

DType slot_for_kernel(DType promoted, uint32_t types) {
  if (is_complex(promoted) || promoted == DType::kDouble) return promoted;
  if (is_floating(promoted)) return DType::kFloat;
  const bool exact = (types & (promoted == DType::kBool ? kBoolean : kInteger)) != 0;
  return exact ? DType::kInt64 : DType::kFloat;
}

const PointKernel& Pointwise::choose(DType promoted) const {
  const PointOp& o = op();
  switch (slot_for_kernel(promoted, o.types)) {
    case DType::kFloat: return o.f32;
    case DType::kDouble: return o.f64;
    case DType::kInt64: return o.i64;
    case DType::kComplex64: return o.c64;
    default: return o.c128;
  }
}

void Pointwise::prepare() {
  const PointOp& o = op();
  const auto count = static_cast<size_t>(o.inputs);
  const size_t first = (o.types & kCondition) != 0 ? 1 : 0;
  std::array<const Operand*, kMaxInputs> typed{};
  for (size_t k = first; k < count; ++k) typed[k - first] = &inputs[k];
  const DType promoted = promote({typed.data(), count - first});
  const PointKernel& kernel = choose(promoted);
  require(kernel.run != nullptr, "{} is not defined for {} inputs; cast them first", o.name, promoted);
  loop.set_output(out, kernel.result);
  for (size_t k = 0; k < count; ++k) {
    loop.add_input(inputs[k], k < first ? DType::kBool : slot_for_kernel(promoted, o.types));
  }
  loop.plan(kernel.run);
}

template <size_t K>
void* locate_input(Operator& base) {
  return &static_cast<Pointwise&>(base).inputs[K];
}
constexpr std::array<void* (*)(Operator&), kMaxInputs> kLocate{&locate_input<0>, &locate_input<1>, &locate_input<2>,
                                                              &locate_input<3>};

struct FieldText {
  std::string_view name;
  std::string_view default_text;
};

// "self, other, alpha=1" -> {self}, {other}, {alpha, 1}
std::vector<FieldText> parse_fields(std::string_view text) {
  std::vector<FieldText> out;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    const size_t equal = item.find('=');
    out.push_back({item.substr(0, equal), equal == std::string_view::npos ? "" : item.substr(equal + 1)});
  }
  return out;
}

Scalar default_scalar(std::string_view text) {
  int64_t integer = 0;
  const auto* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, integer).ptr == end) return Scalar(integer);
  double value = 0;
  std::from_chars(text.data(), end, value);
  return Scalar(value);
}

std::unique_ptr<Operator> make_pointwise(const OperatorDef& def) {
  auto made = std::make_unique<Pointwise>();
  const auto fields = parse_fields(static_cast<const PointOp*>(def.data)->fields);
  for (size_t k = 0; k < fields.size(); ++k) {
    if (!fields[k].default_text.empty()) made->inputs[k].scalar = default_scalar(fields[k].default_text);
  }
  return made;
}

void register_one(const char* family, const PointOp& op) {
  std::vector<Field> fields;
  for (const FieldText& field : parse_fields(op.fields)) {
    const FieldRole role = field.default_text.empty() ? FieldRole::kIn : FieldRole::kAttr;
    fields.push_back({field.name, FieldKind::kOperand, role, kLocate.at(fields.size())});
  }
  fields.push_back(out<&Pointwise::out>("out"));
  Registration(op.name, family, std::move(fields), &make_pointwise, &op);
}

int rank_of(DType dtype) {
  static constexpr std::array kOrder{DType::kBool,  DType::kUInt8,    DType::kInt8,  DType::kInt16, DType::kUInt16,
                                     DType::kInt32, DType::kUInt32,   DType::kInt64, DType::kUInt64, DType::kHalf,
                                     DType::kBFloat16, DType::kFloat, DType::kDouble, DType::kComplex64,
                                     DType::kComplex128};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), dtype) - kOrder.begin());
}

int category_of(DType dtype) {
  if (dtype == DType::kBool) return 0;
  if (is_integer(dtype)) return 1;
  return is_complex(dtype) ? 3 : 2;
}

DType default_of_category(DType dtype) {
  constexpr std::array kDefaults{DType::kBool, DType::kInt64, DType::kFloat, DType::kComplex64};
  return kDefaults.at(static_cast<size_t>(category_of(dtype)));
}

// A result of lower priority only matters when its category is higher.
DType combine(DType strong, DType weak) {
  if (strong == DType::kUndefined) return weak;
  if (weak == DType::kUndefined || category_of(weak) <= category_of(strong)) return strong;
  if (is_complex(weak) && strong == DType::kDouble) return DType::kComplex128;
  return weak;
}

}  // namespace

DType promote_types(DType a, DType b) {
  if (a == DType::kUndefined || a == b) return b;
  if (b == DType::kUndefined) return a;
  const DType high = rank_of(a) > rank_of(b) ? a : b;
  const DType low = high == a ? b : a;
  if (high == DType::kBFloat16 && low == DType::kHalf) return DType::kFloat;
  if (high == DType::kInt8 && low == DType::kUInt8) return DType::kInt16;
  if (high == DType::kComplex64 && low == DType::kDouble) return DType::kComplex128;
  return high;
}

DType promote(std::span<const Operand* const> operands) {
  DType tensors = DType::kUndefined;
  DType zero_dim = DType::kUndefined;
  DType scalars = DType::kUndefined;
  for (const Operand* operand : operands) {
    if (!operand->defined()) continue;
    const DType dtype = operand->dtype();
    if (operand->is_scalar()) {
      scalars = promote_types(scalars, default_of_category(dtype));
    } else if (operand->tensor.rank() == 0) {
      zero_dim = promote_types(zero_dim, dtype);
    } else {
      tensors = promote_types(tensors, dtype);
    }
  }
  return combine(combine(tensors, zero_dim), scalars);
}

PointFamily::PointFamily(const char* family, std::span<const PointOp> ops) {
  for (const PointOp& op : ops) register_one(family, op);
}

}  // namespace npu::ops
