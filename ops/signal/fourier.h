// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform of one line, for any length, in float64.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/dtype.h"

namespace npu::ops {

class Fourier {
 public:
  Fourier() = default;
  /// Tables for lines of `length` >= 1 elements.
  explicit Fourier(int64_t length);
  /// out[k] = sum over j of in[j] * exp(-2 pi i j k / length). `in` and `out` are apart. Safe from any thread.
  void run(const Complex128* in, Complex128* out) const;

 private:
  /// One step of the mixed radix: `radix` transforms of `part` elements become one.
  struct Level {
    int64_t radix, part;
    std::vector<Complex128> twiddles;  ///< [part][radix - 1]: exp(-2 pi i q k / (radix * part)) for q >= 1
    std::vector<Complex128> roots;     ///< exp(-2 pi i j / radix), of radices without code of their own
  };
  /// A convolution, for lengths with a large prime factor.
  struct Chirp;

  void transform(const Complex128* in, int64_t step, Complex128* out, size_t level) const;
  void convolve(const Complex128* in, Complex128* out) const;

  int64_t length_ = 0;
  std::vector<Level> levels_;  ///< the last step first
  std::shared_ptr<const Chirp> chirp_;
};

}  // namespace npu::ops
