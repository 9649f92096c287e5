// SPDX-License-Identifier: Apache-2.0
// counter_uniform, counter_normal, counter_truncated_normal, counter_integers, counter_bits: TensorFlow's random
// numbers of a key and a counter, bit for bit. A block of four words gives four numbers of 32 bits or less, or two
// of 64.
#include <cmath>

#include "ops/random/counter.h"

namespace npu::ops {
namespace {

bool wide(DType dtype) { return size_of(dtype) == 8; }

struct CounterUniform final : CounterOperator {
  OrderedTensor target;

  void prepare() override {
    prepare_counter();
    require(is_floating(out.dtype), "out is {}; uniform numbers need a floating dtype", out);
    target = OrderedTensor(out, random_slot(out.dtype));
  }
  void run() override {
    const DType dtype = out.dtype;
    random_blocks(start(), target.count(), wide(dtype) ? 2 : 1, [&](int64_t first, int64_t n, const uint32_t* words) {
      double values[kRandomBlock];  // NOLINT: filled below
      if (wide(dtype))
        for (int64_t i = 0; i < n; ++i) values[i] = unit_double(words[2 * i], words[2 * i + 1]);
      else
        fill_floats(dtype, words, n, reinterpret_cast<float*>(values));
      target.store(first, n, values);
    });
  }
  int64_t cost() const override { return 200 + 2 * target.count(); }

 private:
  // Narrow types take the lowest bits of a word, as many as their mantissa has.
  static void fill_floats(DType dtype, const uint32_t* words, int64_t n, float* values) {
    // 10 and 7 bits of mantissa: one less than torch draws for the same types.
    const int bits = dtype == DType::kHalf ? 10 : dtype == DType::kBFloat16 ? 7 : 23;
    for (int64_t i = 0; i < n; ++i) values[i] = unit_float((words[i] & ((1u << bits) - 1)) << (23 - bits));
  }
};

// Box and Muller, sine before cosine, with the C library's functions: TensorFlow calls the same.
void normal_pair(const uint32_t* words, float* out) {
  // u is kept off 0 as TensorFlow keeps it, at 1e-7 in both precisions: its bits depend on it.
  const float u = std::max(unit_float(words[0]), 1e-7f);
  const auto angle = static_cast<float>(2 * M_PI * unit_float(words[1]));
  const float radius = std::sqrt(-2.0f * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

void normal_pair(const uint32_t* words, double* out) {
  const double u = std::max(unit_double(words[0], words[1]), 1e-7);
  const double angle = 2 * M_PI * unit_double(words[2], words[3]);
  const double radius = std::sqrt(-2.0 * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

template <class T>
constexpr int64_t kWords = sizeof(T) / 4;  // of an element

/// What the normal distributions share: `Op::draw<T>()` makes the numbers.
template <class Op>
struct NormalOperator : CounterOperator {
  OrderedTensor target;

  void prepare() override {
    prepare_counter();
    require(is_floating(out.dtype), "out is {}; normal numbers need a floating dtype", out);
    target = OrderedTensor(out, random_slot(out.dtype));
  }
  void run() override {
    if (wide(out.dtype))
      static_cast<const Op*>(this)->template draw<double>();
    else
      static_cast<const Op*>(this)->template draw<float>();
  }
};

struct CounterNormal final : NormalOperator<CounterNormal> {
  int64_t cost() const override { return 200 + 20 * target.count(); }

  template <class T>
  void draw() const {
    random_blocks(start(), target.count(), kWords<T>, [&](int64_t first, int64_t n, const uint32_t* words) {
      T values[kRandomBlock];  // NOLINT: filled below
      // In pairs; of an odd number the last pair's second one is made and dropped.
      for (int64_t i = 0; i < n; i += 2) normal_pair(words + i * kWords<T>, values + i);
      target.store(first, n, values);
    });
  }
};

// Values of two or more standard deviations are drawn again, so each group of a block's elements has a stretch of 256
// words an element to itself.
struct CounterTruncatedNormal final : NormalOperator<CounterTruncatedNormal> {
  int64_t cost() const override { return 200 + 60 * target.count(); }

  static constexpr int64_t kRuns = kRandomBlock / 4;  // groups made at a time, two blocks of words each

  template <class T>
  void draw() const {
    constexpr int64_t kGroup = 4 / kWords<T>, kApart = kGroup * 256 / 4;
    parallel_for(target.count(), kRandomGrain, [&](int64_t begin, int64_t end) {
      uint32_t words[8 * kRuns];  // NOLINT: filled by philox_runs
      T values[kGroup * kRuns];   // NOLINT: filled by draw_group
      for (int64_t at = begin; at < end; at += kGroup * kRuns) {
        const int64_t n = std::min(kGroup * kRuns, end - at), groups = (n + kGroup - 1) / kGroup;
        // A group's stretch begins where its number says, however many words the ones before have drawn: any group can
        // be made by itself.
        const RandomCounter from = start().after(static_cast<uint64_t>(at / kGroup * kApart));
        philox_runs(from, kApart, groups, words);
        for (int64_t g = 0; g < groups; ++g)
          draw_group(from.after(static_cast<uint64_t>(g * kApart)), words + 8 * g, values + kGroup * g);
        target.store(at, n, values);
      }
    });
  }

 private:
  /// `words` are those of the first two blocks at `from`; more are made where they do not do.
  template <class T>
  static void draw_group(RandomCounter from, const uint32_t* words, T* values) {
    // Most groups need no more than their first two blocks.
    uint32_t more[8];
    for (int64_t made = 0; !take<T>(words, values, made); words = more) {
      from = from.after(2);
      philox(from, 2, more);
    }
  }

  /// Adds what is near enough to the mean; true when the group is full.
  template <class T>
  static bool take(const uint32_t* words, T* values, int64_t& made) {
    for (int64_t w = 0; w < 8; w += 2 * kWords<T>) {
      T pair[2];
      normal_pair(words + w, pair);
      for (const T value : pair) {
        if (std::abs(value) < T{2}) values[made++] = value;
        if (made == 4 / kWords<T>) return true;
      }
    }
    return false;
  }
};

/// low + words % (high - low); without a range, all the bits.
struct CounterIntegers final : CounterOperator {
  Tensor low, high;
  OrderedTensor target;

  void prepare() override {
    prepare_counter();
    require(is_integer(out.dtype), "out is {}; whole numbers need an integer dtype", out);
    require(low.defined() == high.defined(), "low and high are given both or not at all");
    require(
        !low.defined() || (low.dtype == out.dtype && high.dtype == out.dtype && low.count() == 1 && high.count() == 1),
        "low is {}, high is {}; they are one {} each", low, high, out.dtype);
    target = OrderedTensor(out, DType::kInt64);
  }
  void run() override {
    // As unsigned: the range of two int64 may be wider than int64.
    const auto from = low.defined() ? value_of(low) : 0;
    const uint64_t range = low.defined() ? value_of(high) - from : 0;
    const bool two = wide(out.dtype);
    random_blocks(start(), target.count(), two ? 2 : 1, [&](int64_t first, int64_t n, const uint32_t* words) {
      uint64_t values[kRandomBlock];  // NOLINT: filled below
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = two ? words[2 * i] | uint64_t{words[2 * i + 1]} << 32 : words[i];
        // A modulo, as TensorFlow has it: its bias is a part of its bits.
        values[i] = range == 0 ? bits : from + bits % range;
      }
      target.store(first, n, values);
    });
  }
  int64_t cost() const override { return 200 + 5 * target.count(); }

 private:
  static uint64_t value_of(const Tensor& number) {
    return static_cast<uint64_t>(Scalar(number.bytes(), number.dtype).to_int());
  }
};

NPU_OPERATOR(CounterUniform, "counter_uniform", "random", NPU_COUNTER_FIELDS(CounterUniform));
NPU_OPERATOR(CounterNormal, "counter_normal", "random", NPU_COUNTER_FIELDS(CounterNormal));
NPU_OPERATOR(CounterTruncatedNormal, "counter_truncated_normal", "random", NPU_COUNTER_FIELDS(CounterTruncatedNormal));
NPU_OPERATOR(CounterIntegers, "counter_integers", "random", optional<&CounterIntegers::low>("low"),
             optional<&CounterIntegers::high>("high"), NPU_COUNTER_FIELDS(CounterIntegers));

}  // namespace
}  // namespace npu::ops
