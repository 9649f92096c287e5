// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform of one line, for any length: mixed radix, in float64.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace npu::ops {

class Fourier {
 public:
  Fourier() = default;
  /// Tables for lines of `length` >= 1 elements.
  explicit Fourier(int64_t length);
  /// out[k] = sum over j of in[j] * exp(-2 pi i j k / length). `in` and `out` are apart. Safe from any thread.
  void run(const Complex128* in, Complex128* out) const { transform(in, 1, out, length_); }

 private:
  void transform(const Complex128* in, int64_t step, Complex128* out, int64_t length) const;
  void combine(Complex128* out, int64_t length, int64_t radix) const;

  int64_t length_ = 0;
  std::vector<Complex128> roots_;  ///< exp(-2 pi i k / length)
};

}  // namespace npu::ops
