// SPDX-License-Identifier: Apache-2.0
// A short list of sizes, strides or axes kept in place: no allocation per tensor.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/error.h"

namespace npu {

/// The highest tensor rank any operator takes; PyTorch models stay far below it.
inline constexpr size_t kMaxRank = 16;

class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values) { assign(values); }
  explicit Dims(size_t count, int64_t value) : size_(checked(count)) { std::fill_n(values_.begin(), count, value); }
  Dims(const Dims& other) : size_(other.size_) { std::copy_n(other.values_.begin(), size_, values_.begin()); }
  Dims& operator=(const Dims& other) {
    size_ = other.size_;
    std::copy_n(other.values_.begin(), size_, values_.begin());
    return *this;
  }

  void assign(std::span<const int64_t> values) {
    size_ = checked(values.size());
    std::copy(values.begin(), values.end(), values_.begin());
  }
  void push_back(int64_t value) {
    checked(size_ + 1);
    values_[size_++] = value;
  }
  void pop_back() { --size_; }
  void resize(size_t count, int64_t value = 0) {
    checked(count);
    while (size_ < count) values_[size_++] = value;
    size_ = count;
  }
  void insert(size_t at, int64_t value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t& operator[](size_t i) { return values_[i]; }
  int64_t operator[](size_t i) const { return values_[i]; }
  int64_t& back() { return values_[size_ - 1]; }
  int64_t back() const { return values_[size_ - 1]; }
  int64_t* begin() { return values_.data(); }
  int64_t* end() { return values_.data() + size_; }
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + size_; }
  const int64_t* data() const { return values_.data(); }
  operator std::span<const int64_t>() const { return {values_.data(), size_}; }  // NOLINT: reads as a span
  bool operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  static size_t checked(size_t count) {
    if (count > kMaxRank) [[unlikely]]
      fail(Code::kNnInvalidParam, "rank {} is above the limit of {} dimensions; reshape the tensor to fewer", count,
           kMaxRank);
    return count;
  }
  std::array<int64_t, kMaxRank> values_;
  size_t size_ = 0;
};

namespace detail {
int64_t count_of_overflow(const Dims& shape);
}

/// Product of sizes; 1 for a 0-dim shape. Raises 161002 when it passes 2^63.
inline int64_t count_of(const Dims& shape) {
  int64_t n = 1;
  bool overflow = false;
  for (const int64_t d : shape) overflow |= __builtin_mul_overflow(n, d, &n);
  if (overflow) [[unlikely]]
    return detail::count_of_overflow(shape);
  return n;
}

/// Row-major strides, in elements.
inline Dims contiguous_strides(const Dims& shape) {
  Dims strides(shape.size(), 1);
  // An empty shape may have sizes whose product wraps; nobody walks those strides.
  for (size_t i = shape.size(); i-- > 1;)
    (void)__builtin_mul_overflow(strides[i], std::max<int64_t>(shape[i], 1), &strides[i - 1]);
  return strides;
}

/// "3x4", or "scalar" for no dimension: the spelling of shapes in error texts.
std::string to_string(const Dims& shape);

/// Size `broadcast(a, b)` by NumPy's rule; raises 161002 naming both shapes when they do not fit.
Dims broadcast(const Dims& a, const Dims& b);

/// A dimension given by the user, negative counted from the end, as an index below `rank` (0-dim tensors count as 1-D).
size_t wrap_dim(int64_t dim, size_t rank);

}  // namespace npu

// As {} only, and compiled once: what fmt's formatter of texts brings along would be in every source.
template <>
struct fmt::formatter<npu::Dims> {
  constexpr auto parse(format_parse_context& ctx) { return ctx.begin(); }
  format_context::iterator format(const npu::Dims& d, format_context& ctx) const;
};
