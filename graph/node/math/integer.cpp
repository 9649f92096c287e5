// SPDX-License-Identifier: Apache-2.0
// Division with its roundings and remainders, bits, and checks of elements. Dividing an integer by zero is an error
// here.
#include "graph/node/array.h"

namespace npu::graph {
namespace {

void call_binary(Lowering& l, std::string_view op, const Planned& x, const Planned& y, const Planned& out) {
  l.call(op).set("self", x).set("other", y).set("out", out);
}

Planned result(Lowering& l) { return l.make(0, l.dtype(0), broadcast(l.shape(0), l.shape(1))); }

/// `integers` for integers, after a look at the divisor.
void divide(Lowering& l, std::string_view integers, std::string_view floats) {
  if (l.dtype(0) == DType::kUInt64) l.decline("quotients of uint64 are left to the client");
  const bool whole = is_integer(l.dtype(0));
  const Planned out = result(l);
  if (whole && out.view.count() > 0)
    l.call("check_integers")
        .set("self", l.input(1))
        .set("refuse_zero", true)
        .set("message", std::string("Integer division by zero"));
  call_binary(l, whole ? integers : floats, l.input(0), l.input(1), out);
}

void quotient(Lowering& l) { divide(l, "trunc_divide", "div"); }
void remainder(Lowering& l) { divide(l, "fmod", "fmod"); }
void floor_remainder(Lowering& l) { divide(l, "remainder", "remainder"); }

/// Of floats: the quotient, rounded to the type, is rounded down.
void floor_quotient(Lowering& l) {
  if (!is_floating(l.dtype(0))) return divide(l, "floor_divide", "div");
  const Planned out = result(l);
  call_binary(l, "div", l.input(0), l.input(1), out);
  l.call("floor").set("self", out).set("out", out);
}

void bits(Lowering& l) { call_binary(l, l.target(), l.input(0), l.input(1), result(l)); }
void invert(Lowering& l) {
  l.call("bitwise_not").set("self", l.input(0)).set("out", l.make(0, l.dtype(0), l.shape(0)));
}

/// Places beyond the type's width count as its width less one, negative ones as none.
void shift(Lowering& l) {
  if (l.dtype(0) == DType::kUInt64) l.decline("shifts of uint64 are left to the client");
  const Planned places = l.scratch(l.dtype(1), l.shape(1));
  l.call("clamp")
      .set("self", l.input(1))
      .set("min", ops::Operand{{}, Scalar(0)})
      .set("max", ops::Operand{{}, Scalar(static_cast<int64_t>(size_of(l.dtype(0))) * 8 - 1)})
      .set("out", places);
  call_binary(l, l.target(), l.input(0), places, result(l));
}

void check(Lowering& l, bool signs) {
  l.call("check_finite")
      .set("self", l.input(0))
      .set("message", l.attributes().get_or<std::string>("message", ""))
      .set("signs", signs);
  l.alias(0, l.input(0));
}
void check_numerics(Lowering& l) { check(l, false); }
void check_numerics_v2(Lowering& l) { check(l, true); }

/// The same bits as another type.
void bitcast(Lowering& l) {
  const DType to = out_type(l);
  const auto from_size = static_cast<int64_t>(size_of(l.dtype(0))), to_size = static_cast<int64_t>(size_of(to));
  if (from_size == 0 || to_size == 0) l.decline("it is about values that only the client understands");
  Dims shape = l.shape(0);
  if (from_size < to_size) {
    require(!shape.empty() && shape.back() * from_size == to_size,
            "Cannot bitcast from {} to {}: the last dimension of {} must be {}", l.dtype(0), to, shape,
            to_size / from_size);
    shape.pop_back();
  } else if (from_size > to_size) {
    shape.push_back(from_size / to_size);
  }
  Planned bytes = l.input(0);
  if (!contiguous(bytes) || bytes.view.offset * from_size % to_size != 0) {
    bytes = l.scratch(l.dtype(0), l.shape(0));
    copy(l, l.input(0), bytes);
  }
  bytes.literal = nullptr;
  bytes.type = ValueType::tensor(to);
  bytes.view.dtype = to;
  bytes.view.offset = bytes.view.offset * from_size / to_size;
  l.alias(0, restrided(bytes, shape, contiguous_strides(shape)));
}

NPU_NODE("Div", quotient);
NPU_NODE("TruncateDiv", quotient);
NPU_NODE("FloorDiv", floor_quotient);
NPU_NODE("Mod", remainder);
NPU_NODE("TruncateMod", remainder);
NPU_NODE("FloorMod", floor_remainder);
NPU_NODE("BitwiseAnd", bits, "bitwise_and");
NPU_NODE("BitwiseOr", bits, "bitwise_or");
NPU_NODE("BitwiseXor", bits, "bitwise_xor");
NPU_NODE("Invert", invert);
NPU_NODE("LeftShift", shift, "left_shift");
NPU_NODE("RightShift", shift, "right_shift");
NPU_NODE("CheckNumerics", check_numerics);
NPU_NODE("CheckNumericsV2", check_numerics_v2);
NPU_NODE("Bitcast", bitcast);

}  // namespace
}  // namespace npu::graph
