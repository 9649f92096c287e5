// SPDX-License-Identifier: Apache-2.0
// Mixed radix, decimation in time: a line of radix * part elements is taken apart into `radix` interleaved ones, which
// are transformed and then combined in place. Factors 4, 2, 3 and 5 have code of their own. Other primes cost their
// square, so a length with a large one is a convolution (Bluestein): with jk = (j^2 + k^2 - (k - j)^2) / 2 the sum over
// j is one of in[j] * chirp[j] and the chirp's conjugate, computed by transforms of a power of two.
#include "ops/signal/fourier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "ops/scratch.h"

namespace npu::ops {
namespace {

/// Above it three transforms of up to four times the length cost less than the prime's square.
constexpr int64_t kLargestRadix = 48;

/// exp(-2 pi i k / n). Each is computed by itself: multiplying one on would add up its rounding.
Complex128 root(int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

std::vector<int64_t> factors_of(int64_t n) {
  std::vector<int64_t> factors;
  const auto take = [&](int64_t p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  };
  take(4), take(2);
  for (int64_t p = 3; p * p <= n; p += 2) take(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

/// The product as it is defined: that of std::complex looks for infinities after each.
Complex128 times(const Complex128& a, const Complex128& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
Complex128 turned(const Complex128& a) { return {a.imag(), -a.real()}; }  // by -i

void combine_2(Complex128* out, const Complex128* twiddle, int64_t part) {
  for (int64_t k = 0; k < part; ++k) {
    const Complex128 a = out[k], b = times(out[k + part], twiddle[k]);
    out[k] = a + b, out[k + part] = a - b;
  }
}

void combine_3(Complex128* out, const Complex128* twiddle, int64_t part) {
  constexpr double kSine = std::numbers::sqrt3 / 2;
  for (int64_t k = 0; k < part; ++k, twiddle += 2) {
    const Complex128 a = out[k], b = times(out[k + part], twiddle[0]), c = times(out[k + 2 * part], twiddle[1]);
    const Complex128 sum = b + c, middle = a - 0.5 * sum, side = kSine * turned(b - c);
    out[k] = a + sum, out[k + part] = middle + side, out[k + 2 * part] = middle - side;
  }
}

void combine_4(Complex128* out, const Complex128* twiddle, int64_t part) {
  for (int64_t k = 0; k < part; ++k, twiddle += 3) {
    const Complex128 a = out[k], b = times(out[k + part], twiddle[0]);
    const Complex128 c = times(out[k + 2 * part], twiddle[1]), d = times(out[k + 3 * part], twiddle[2]);
    const Complex128 even = a + c, odd = a - c, sum = b + d, side = turned(b - d);
    out[k] = even + sum, out[k + part] = odd + side;
    out[k + 2 * part] = even - sum, out[k + 3 * part] = odd - side;
  }
}

void combine_5(Complex128* out, const Complex128* twiddle, int64_t part) {
  static const double c1 = std::cos(0.4 * std::numbers::pi), c2 = std::cos(0.8 * std::numbers::pi);
  static const double s1 = std::sin(0.4 * std::numbers::pi), s2 = std::sin(0.8 * std::numbers::pi);
  for (int64_t k = 0; k < part; ++k, twiddle += 4) {
    const Complex128 a = out[k];
    const Complex128 b = times(out[k + part], twiddle[0]), c = times(out[k + 2 * part], twiddle[1]);
    const Complex128 d = times(out[k + 3 * part], twiddle[2]), e = times(out[k + 4 * part], twiddle[3]);
    const Complex128 outer = b + e, inner = c + d, far = b - e, near = c - d;
    const Complex128 first = a + c1 * outer + c2 * inner, second = a + c2 * outer + c1 * inner;
    const Complex128 side = turned(s1 * far + s2 * near), other = turned(s2 * far - s1 * near);
    out[k] = a + outer + inner;
    out[k + part] = first + side, out[k + 4 * part] = first - side;
    out[k + 2 * part] = second + other, out[k + 3 * part] = second - other;
  }
}

void combine_any(Complex128* out, const Complex128* twiddle, int64_t part, const std::vector<Complex128>& roots) {
  const auto radix = static_cast<int64_t>(roots.size());
  // Places of one k are read before any of them is written, so the result needs no second line.
  const Scratch<Complex128> terms(radix);
  for (int64_t k = 0; k < part; ++k, twiddle += radix - 1) {
    terms[0] = out[k];
    for (int64_t q = 1; q < radix; ++q) terms[q] = times(out[q * part + k], twiddle[q - 1]);
    for (int64_t j = 0; j < radix; ++j) {
      Complex128 sum = terms[0];
      for (int64_t q = 1; q < radix; ++q) sum += times(terms[q], roots[static_cast<size_t>(q * j % radix)]);
      out[j * part + k] = sum;
    }
  }
}

}  // namespace

struct Fourier::Chirp {
  std::vector<Complex128> chirp;     ///< exp(-pi i k^2 / length)
  std::vector<Complex128> spectrum;  ///< of its conjugate, over 1 / size
  Fourier plan;                      ///< of the convolution's size

  explicit Chirp(int64_t length) : plan(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)))) {
    const auto size = static_cast<size_t>(plan.length_);
    std::vector<Complex128> filter(size);
    for (int64_t k = 0; k < length; ++k) {
      chirp.push_back(root(k * k % (2 * length), 2 * length));
      filter[static_cast<size_t>(k)] = std::conj(chirp.back());
      if (k > 0) filter[size - static_cast<size_t>(k)] = std::conj(chirp.back());
    }
    spectrum.resize(size);
    plan.run(filter.data(), spectrum.data());
    for (Complex128& value : spectrum) value /= static_cast<double>(size);
  }
};

Fourier::Fourier(int64_t length) : length_(length) {
  const std::vector<int64_t> factors = factors_of(length);
  if (std::ranges::any_of(factors, [](int64_t p) { return p > kLargestRadix; })) {
    chirp_ = std::make_shared<const Chirp>(length);
    return;
  }
  int64_t whole = length;
  for (const int64_t radix : factors) {
    Level level{radix, whole / radix, {}, {}};
    for (int64_t k = 0; k < level.part; ++k)
      for (int64_t q = 1; q < radix; ++q) level.twiddles.push_back(root(q * k, whole));
    for (int64_t j = 0; j < radix && radix > 5; ++j) level.roots.push_back(root(j, radix));
    levels_.push_back(std::move(level));
    whole /= radix;
  }
}

void Fourier::run(const Complex128* in, Complex128* out) const {
  if (chirp_) return convolve(in, out);
  if (levels_.empty()) return void(out[0] = in[0]);
  transform(in, 1, out, 0);
}

void Fourier::transform(const Complex128* in, int64_t step, Complex128* out, size_t level) const {
  const Level& l = levels_[level];
  for (int64_t q = 0; q < l.radix; ++q) {
    if (l.part == 1)
      out[q] = in[q * step];
    else
      transform(in + q * step, step * l.radix, out + q * l.part, level + 1);
  }
  switch (l.radix) {
    case 2: return combine_2(out, l.twiddles.data(), l.part);
    case 3: return combine_3(out, l.twiddles.data(), l.part);
    case 4: return combine_4(out, l.twiddles.data(), l.part);
    case 5: return combine_5(out, l.twiddles.data(), l.part);
    default: return combine_any(out, l.twiddles.data(), l.part, l.roots);
  }
}

void Fourier::convolve(const Complex128* in, Complex128* out) const {
  const Chirp& c = *chirp_;
  const int64_t size = c.plan.length_;
  const Scratch<Complex128> line(size), product(size);
  for (int64_t k = 0; k < length_; ++k) line[k] = times(in[k], c.chirp[static_cast<size_t>(k)]);
  std::fill(line + length_, line + size, Complex128());
  c.plan.run(line, product);
  // The way back is the transform of the conjugate, conjugated.
  for (int64_t k = 0; k < size; ++k) line[k] = std::conj(times(product[k], c.spectrum[static_cast<size_t>(k)]));
  c.plan.run(line, product);
  for (int64_t k = 0; k < length_; ++k) out[k] = times(std::conj(product[k]), c.chirp[static_cast<size_t>(k)]);
}

}  // namespace npu::ops
