// SPDX-License-Identifier: Apache-2.0
// A line's text is parsed once, when it registers; its operator is then data and needs no class of its own. Types are
// settled in three steps: what torch promotes the operands to, the slot that is computed in, the kernel of that slot.
#include "ops/vector/elementwise/pointwise.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/split.h"

namespace npu::ops {
namespace {

constexpr size_t kMaxInputs = 6;

enum class Default : uint8_t { kNone, kNumber, kLowest, kHighest };

/// One input of a line, as its field text describes it.
struct Input {
  std::string_view name;
  Default fallback = Default::kNone;
  bool attribute = false;  ///< a number that takes no part in promotion
  Scalar number;
};

/// A registered line: the kernels and its parsed fields.
struct Line {
  PointOp op;
  std::vector<Input> inputs;
};

struct Pointwise final : Operator {
  Operand inputs[kMaxInputs];
  Tensor out;
  Elementwise loop;

  const Line& line() const { return *static_cast<const Line*>(def->data); }
  void prepare() override;
  void run() override { loop.run(); }
  void moved() override;
  int64_t cost() const override { return loop.cost(); }

 private:
  DType promoted() const;
  void check_result(DType dtype, DType result) const;
  DType through(const Operand& input, DType dtype) const;
  Operand filled(size_t k, DType slot) const;
};

// The slot a line computes `promoted` inputs in.
DType slot_for_kernel(DType promoted, uint32_t types) {
  if (is_complex(promoted) || promoted == DType::kDouble) return promoted;
  // Halves too: computed in float32 and rounded once, at the store.
  if (is_floating(promoted)) return DType::kFloat;
  if (promoted == DType::kBool && (types & kTruth) != 0) return DType::kBool;
  const bool exact = (types & (promoted == DType::kBool ? kBoolean : kInteger)) != 0;
  return exact || (types & kReal) == 0 ? DType::kInt64 : DType::kFloat;
}

const PointKernel& kernel_for(const PointOp& op, DType slot) {
  switch (slot) {
    case DType::kFloat: return op.f32;
    case DType::kDouble: return op.f64;
    case DType::kInt64: return op.i64;
    case DType::kBool: return op.b8;
    case DType::kComplex64: return op.c64;
    default: return op.c128;
  }
}

DType Pointwise::promoted() const {
  const Line& l = line();
  std::array<const Operand*, kMaxInputs> typed{};
  size_t count = 0;
  for (size_t k = (l.op.types & kCondition) != 0 ? 1 : 0; k < l.inputs.size(); ++k) {
    if (!l.inputs[k].attribute) typed[count++] = &inputs[k];
  }
  return promote({typed.data(), count});
}

// Lines of one operand also compute where torch does nothing, as rounding an integer, and clients give functions of
// integers an output of integers; what a condition chooses from is converted by the client, but for complex numbers,
// which would lose a part.
void Pointwise::check_result(DType dtype, DType result) const {
  const Line& l = line();
  const auto operands = std::count_if(l.inputs.begin(), l.inputs.end(), [](const Input& i) { return !i.attribute; });
  const bool chooses = (l.op.types & kCondition) != 0 && !is_complex(result);
  if (operands < 2 || result == DType::kBool || chooses) return;
  require_castable(l.op.name, result == DType::kInt64 ? dtype : result, out);
}

// What torch converts `input` to before its kernel sees it, where that loses digits which the slot would keep: tensors
// always become the common dtype, numbers (one element counts as one) only in lines that say so.
DType Pointwise::through(const Operand& input, DType dtype) const {
  if (dtype != DType::kHalf && dtype != DType::kBFloat16) return DType::kUndefined;
  // 0 and 1 lose nothing.
  if (!input.defined() || input.dtype() == dtype || input.dtype() == DType::kBool) return DType::kUndefined;
  const bool number = input.is_scalar() || input.tensor.count() == 1;
  return !number || (line().op.types & kRounded) != 0 ? dtype : DType::kUndefined;
}

// Input `k`, or what stands for it when the caller left it out.
Operand Pointwise::filled(size_t k, DType slot) const {
  if (inputs[k].defined()) return inputs[k];
  const bool low = line().inputs[k].fallback == Default::kLowest;
  using Ends = std::numeric_limits<int64_t>;
  if (slot == DType::kInt64 || slot == DType::kBool) return {{}, Scalar(low ? Ends::min() : Ends::max())};
  const double inf = std::numeric_limits<double>::infinity();
  return {{}, Scalar(low ? -inf : inf)};
}

void Pointwise::prepare() {
  const Line& l = line();
  const DType dtype = promoted();
  const DType slot = slot_for_kernel(dtype, l.op.types);
  const PointKernel& kernel = kernel_for(l.op, slot);
  require(kernel.run != nullptr, "{} is not defined for {} inputs; cast them first", l.op.name, dtype);
  check_result(dtype, kernel.result);
  loop.set_output(out, kernel.result);
  const size_t condition = (l.op.types & kCondition) != 0 ? 1 : 0;
  for (size_t k = 0; k < l.inputs.size(); ++k) {
    if (k < condition)
      loop.add_input(inputs[k], DType::kBool);
    else
      loop.add_input(filled(k, slot), slot, through(inputs[k], dtype));
  }
  loop.plan(kernel.run);
}

void Pointwise::moved() {
  loop.move(0, out.data);
  for (size_t k = 0; k < line().inputs.size(); ++k)
    if (inputs[k].tensor.defined()) loop.move(k + 1, inputs[k].tensor.data);
  loop.meet();
}

template <size_t K>
Member locate_input(Operator& base) {
  return &static_cast<Pointwise&>(base).inputs[K];
}
constexpr std::array<Member (*)(Operator&), kMaxInputs> kLocate{&locate_input<0>, &locate_input<1>, &locate_input<2>,
                                                                &locate_input<3>, &locate_input<4>, &locate_input<5>};

Scalar parse_number(std::string_view text) {
  int64_t integer = 0;
  const auto* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, integer).ptr == end) return Scalar(integer);
  double value = 0;
  std::from_chars(text.data(), end, value);
  return Scalar(value);
}

// "alpha=1" or "max?=highest".
Input parse_input(std::string_view item) {
  item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
  Input out;
  const size_t equal = item.find('=');
  out.name = item.substr(0, std::min(equal, item.find('?')));
  if (equal == std::string_view::npos) return out;
  const std::string_view text = item.substr(equal + 1);
  out.attribute = item[equal - 1] != '?';
  if (text == "lowest" || text == "highest") {
    out.fallback = text == "lowest" ? Default::kLowest : Default::kHighest;
  } else {
    out.fallback = Default::kNumber;
    out.number = parse_number(text);
  }
  return out;
}

// "self, other, alpha=1" -> {self}, {other}, {alpha, 1}
std::vector<Input> parse_inputs(std::string_view text) {
  std::vector<Input> out;
  for (const std::string_view item : split(text, ",")) out.push_back(parse_input(item));
  return out;
}

std::unique_ptr<Operator> make_pointwise(const OperatorDef& def) {
  auto made = std::make_unique_for_overwrite<Pointwise>();
  const auto& inputs = static_cast<const Line*>(def.data)->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) made->inputs[k].scalar = inputs[k].number;
  return made;
}

void register_one(const char* family, const PointOp& op) {
  const auto* line = new Line{op, parse_inputs(op.fields)};  // lives as long as the registry
  std::vector<Field> fields;
  for (const Input& input : line->inputs) {
    const FieldRole role = input.attribute                    ? FieldRole::kAttr
                           : input.fallback != Default::kNone ? FieldRole::kOptional
                                                              : FieldRole::kIn;
    fields.push_back({input.name, FieldKind::kOperand, role, kLocate.at(fields.size())});
  }
  fields.push_back(out<&Pointwise::out>("out"));
  const Traits moves = (op.types & kMoves) != 0 ? kMovesBits : 0;
  Registration(op.name, family, std::move(fields), &make_pointwise, line).is(kPointwise | moves);
}

int rank_of(DType dtype) {
  static constexpr std::array kOrder{DType::kBool,   DType::kUInt8,     DType::kInt8,      DType::kInt16,
                                     DType::kUInt16, DType::kInt32,     DType::kUInt32,    DType::kInt64,
                                     DType::kUInt64, DType::kHalf,      DType::kBFloat16,  DType::kFloat,
                                     DType::kDouble, DType::kComplex64, DType::kComplex128};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), dtype) - kOrder.begin());
}

int category_of(DType dtype) {
  if (dtype == DType::kBool) return 0;
  if (is_integer(dtype)) return 1;
  return is_complex(dtype) ? 3 : 2;
}

// What frameworks call a dtype in their messages, which tests and users look for.
std::string_view scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "Bool";
    case DType::kUInt8: return "Byte";
    case DType::kInt8: return "Char";
    case DType::kInt16: return "Short";
    case DType::kInt32: return "Int";
    case DType::kInt64: return "Long";
    case DType::kHalf: return "Half";
    case DType::kBFloat16: return "BFloat16";
    case DType::kFloat: return "Float";
    case DType::kDouble: return "Double";
    case DType::kComplex64: return "ComplexFloat";
    case DType::kComplex128: return "ComplexDouble";
    default: return name_of(dtype);
  }
}

// A host number brings its category, not its width: float16 + 1.5 stays float16.
DType default_of_category(DType dtype) {
  constexpr std::array kDefaults{DType::kBool, DType::kInt64, DType::kFloat, DType::kComplex64};
  return kDefaults.at(static_cast<size_t>(category_of(dtype)));
}

// A result of lower priority only matters when its category is higher.
DType combine(DType strong, DType weak) {
  if (strong == DType::kUndefined) return weak;
  if (weak == DType::kUndefined || category_of(weak) <= category_of(strong)) return strong;
  // A complex number beside float64 tensors must not halve their precision.
  if (is_complex(weak) && strong == DType::kDouble) return DType::kComplex128;
  return weak;
}

}  // namespace

void require_castable(std::string_view name, DType result, const Tensor& out) {
  require(category_of(result) <= category_of(out.dtype),
          "result type {} can't be cast to the desired output type {}: {} gives {}, out is {}; give an output of that "
          "kind, or convert the operands first",
          scalar_type(result), scalar_type(out.dtype), name, result, out);
}

DType promote_types(DType a, DType b) {
  if (a == DType::kUndefined || a == b) return b;
  if (b == DType::kUndefined) return a;
  const DType high = rank_of(a) > rank_of(b) ? a : b;
  const DType low = high == a ? b : a;
  // Neither holds the other: one has the digits, the other the range.
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

PointCall point_call(std::string_view name, DType dtype) {
  const OperatorDef* def = find_operator(name);
  if (def == nullptr || def->create != &make_pointwise) return {};
  const Line& line = *static_cast<const Line*>(def->data);
  PointCall call;
  call.slot = slot_for_kernel(dtype, line.op.types);
  call.kernel = kernel_for(line.op, call.slot);
  call.condition = (line.op.types & kCondition) != 0;
  for (const Input& input : line.inputs) {
    call.names.push_back(input.name);
    call.numbers.push_back(input.number);
  }
  return call;
}

PointFamily::PointFamily(const char* family, std::span<const PointOp> ops) {
  for (const PointOp& op : ops) register_one(family, op);
}

}  // namespace npu::ops
