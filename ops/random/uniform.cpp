// SPDX-License-Identifier: Apache-2.0
// uniform: out gets numbers of [from, to). random: whole numbers of [from, to), or of all the dtype holds.
#include "ops/random/distribution.h"
#include "ops/random/random_fill.h"

namespace npu::ops {
namespace {

struct Uniform final : RandomOperator {
  Tensor out, parts;
  double from = 0;
  double to = 1;
  OrderedTensor target;

  void prepare() override {
    prepare_state();
    parts = drawn_parts(out);
    require(is_floating(parts.dtype), "self is {}; uniform numbers need a floating or complex dtype", out);
    require(from <= to, "from is {}, to is {}; from must not be above to", from, to);
    target = OrderedTensor(parts, random_slot(parts.dtype));
  }
  void run() override {
    const bool wide = parts.dtype == DType::kDouble;
    random_blocks(state(), target.count(), wide ? 2 : 1, [&](int64_t first, int64_t n, const uint32_t* words) {
      double values[kRandomBlock];  // NOLINT: filled below
      if (wide)
        uniform_doubles(words, n, from, to, values);
      else
        // As many bits as the dtype holds: more would round up to `to`, which is not to be reached.
        uniform_floats(words, n, random_bits(parts.dtype), from, to, reinterpret_cast<float*>(values));
      target.store(first, n, values);
    });
  }
  int64_t cost() const override { return 200 + 2 * target.count(); }
};

// How many different values random_() draws: 0 .. the largest a dtype holds exactly.
uint64_t full_range(DType dtype) {
  switch (dtype) {
    case DType::kBool: return 2;
    case DType::kInt8: return 1u << 7;
    case DType::kUInt8: return 1u << 8;
    case DType::kInt16: return 1u << 15;
    case DType::kUInt16: return 1u << 16;
    case DType::kInt32: return uint64_t{1} << 31;
    case DType::kUInt32: return uint64_t{1} << 32;
    case DType::kHalf: return (1u << 11) + 1;
    case DType::kBFloat16: return (1u << 8) + 1;
    case DType::kFloat: return (1u << 24) + 1;
    case DType::kDouble: return (uint64_t{1} << 53) + 1;
    default: return uint64_t{1} << 63;
  }
}

// Without from and to (both 0) the range is that of the dtype.
struct RandomIntegers final : RandomOperator {
  Tensor out;
  int64_t from = 0;
  int64_t to = 0;
  uint64_t range = 0;
  OrderedTensor target;

  void prepare() override {
    prepare_state();
    require(!is_complex(out.dtype), "self is {}; whole random numbers need a real dtype", out);
    // Both 0 is how the client says that it gave no range.
    const bool full = from == 0 && to == 0;
    require(full || from < to, "from is {}, to is {}; from must be below to", from, to);
    range = full ? full_range(out.dtype) : static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
    target = OrderedTensor(out, DType::kInt64);
  }
  void run() override {
    // From 2^28 on a modulo of 32 bits would be biased too far.
    const bool wide = range >= (uint64_t{1} << 28);
    random_blocks(state(), target.count(), wide ? 2 : 1, [&](int64_t first, int64_t n, const uint32_t* words) {
      int64_t values[kRandomBlock];  // NOLINT: filled below
      uniform_integers(words, n, from, range, wide, values);
      target.store(first, n, values);
    });
  }
  int64_t cost() const override { return 200 + 3 * target.count(); }
};

NPU_OPERATOR(Uniform, "uniform", "random", out<&Uniform::out>("out"), attr<&Uniform::from>("from"),
             attr<&Uniform::to>("to"), NPU_RANDOM_FIELDS(Uniform));
NPU_OPERATOR(RandomIntegers, "random", "random", out<&RandomIntegers::out>("out"), attr<&RandomIntegers::from>("from"),
             attr<&RandomIntegers::to>("to"), NPU_RANDOM_FIELDS(RandomIntegers));

}  // namespace
}  // namespace npu::ops
