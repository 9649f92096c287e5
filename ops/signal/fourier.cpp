// SPDX-License-Identifier: Apache-2.0
// Any length, by its prime factors: a frame has the length that its user chose. A prime length costs its square.
#include "ops/signal/fourier.h"

#include <cmath>
#include <numbers>

#include "ops/scratch.h"

namespace npu::ops {
namespace {

int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

}  // namespace

// A table of exact roots: multiplying one root on would add up its rounding.
Fourier::Fourier(int64_t length) : length_(length), roots_(static_cast<size_t>(length)) {
  for (int64_t k = 0; k < length; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    roots_[static_cast<size_t>(k)] = {std::cos(angle), std::sin(angle)};
  }
}

// Decimation in time: `radix` interleaved lines are transformed one after another, then combined in place.
void Fourier::transform(const Complex128* in, int64_t step, Complex128* out, int64_t length) const {
  if (length == 1) {
    out[0] = in[0];
    return;
  }
  const int64_t radix = smallest_factor(length), part = length / radix;
  for (int64_t q = 0; q < radix; ++q) transform(in + q * step, step * radix, out + q * part, part);
  combine(out, length, radix);
}

void Fourier::combine(Complex128* out, int64_t length, int64_t radix) const {
  const int64_t part = length / radix, turn = length_ / length;
  // Places of one k are read before any of them is written, so the result needs no second line.
  const Scratch<Complex128> terms(radix);
  for (int64_t k = 0; k < part; ++k) {
    for (int64_t q = 0; q < radix; ++q) terms[q] = out[q * part + k] * roots_[static_cast<size_t>(q * k * turn)];
    // The powers repeat after length_: the index stays inside the table.
    for (int64_t j = 0; j < radix; ++j) {
      Complex128 sum = terms[0];
      for (int64_t q = 1; q < radix; ++q) sum += terms[q] * roots_[static_cast<size_t>(q * j * part * turn % length_)];
      out[j * part + k] = sum;
    }
  }
}

}  // namespace npu::ops
