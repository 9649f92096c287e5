// SPDX-License-Identifier: Apache-2.0
#include "ops/signal/fourier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace npu::ops {
namespace {

std::vector<Complex128> line_of(int64_t length) {
  std::mt19937 engine(static_cast<unsigned>(length));
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<Complex128> line(static_cast<size_t>(length));
  for (Complex128& value : line) value = {any(engine), any(engine)};
  return line;
}

/// The definition, with more digits.
Complex128 defined(const std::vector<Complex128>& in, int64_t k) {
  const auto length = static_cast<int64_t>(in.size());
  long double real = 0, imaginary = 0;
  for (int64_t j = 0; j < length; ++j) {
    const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % length) /
                              static_cast<long double>(length);
    const Complex128& x = in[static_cast<size_t>(j)];
    real += x.real() * std::cos(angle) - x.imag() * std::sin(angle);
    imaginary += x.real() * std::sin(angle) + x.imag() * std::cos(angle);
  }
  return {static_cast<double>(real), static_cast<double>(imaginary)};
}

void expect_defined(int64_t length) {
  const std::vector<Complex128> in = line_of(length);
  std::vector<Complex128> out(in.size());
  Fourier(length).run(in.data(), out.data());
  // Roundings of log(length) sums of numbers whose squares add up to length.
  const double tolerance =
      1e-15 * std::sqrt(static_cast<double>(length)) * (4 + std::log2(static_cast<double>(length)));
  for (int64_t k = 0; k < length; k += std::max<int64_t>(1, length / 100))
    ASSERT_LE(std::abs(out[static_cast<size_t>(k)] - defined(in, k)), tolerance) << length << " at " << k;
}

TEST(Fourier, LengthsOfEveryFactor) {
  for (int64_t length = 1; length <= 100; ++length) expect_defined(length);
  for (const int64_t length : {360, 1000, 1024, 2048, 2401, 3125, 4096}) expect_defined(length);
}

TEST(Fourier, LargePrimesAreConvolutions) {
  for (const int64_t length : {53, 97, 106, 1009, 2018, 4099, 8191}) expect_defined(length);
}

}  // namespace
}  // namespace npu::ops
