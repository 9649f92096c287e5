// SPDX-License-Identifier: Apache-2.0
// A host number with its dtype, as aclCreateScalar makes it.
#pragma once

#include <complex>
#include <cstdint>

#include "base/dtype.h"

namespace npu {

class Scalar {
 public:
  Scalar() = default;
  Scalar(double value) : dtype_(DType::kDouble), real_(value) {}                          // NOLINT: numbers are scalars
  Scalar(int64_t value) : dtype_(DType::kInt64), integer_(value) {}                       // NOLINT
  Scalar(int value) : Scalar(static_cast<int64_t>(value)) {}                              // NOLINT
  Scalar(bool value) : dtype_(DType::kBool), integer_(value) {}                           // NOLINT
  Scalar(Complex128 v) : dtype_(DType::kComplex128), real_(v.real()), imag_(v.imag()) {}  // NOLINT
  /// Reads one element of `dtype` at `data`. Raises 161002 for types without elements.
  Scalar(const void* data, DType dtype);

  /// False for a scalar the client left out (null).
  bool defined() const { return dtype_ != DType::kUndefined; }
  DType dtype() const { return dtype_; }
  bool is_integral() const { return is_integer(dtype_) || dtype_ == DType::kBool; }

  double to_double() const;
  /// Fractions are cut; NaN gives 0, what int64 cannot hold its nearest end. uint64 comes back as the same 64 bits.
  int64_t to_int() const;
  bool to_bool() const { return is_integral() ? integer_ != 0 : (real_ != 0 || imag_ != 0); }
  Complex128 to_complex() const { return {to_double(), imag_}; }

 private:
  DType dtype_ = DType::kUndefined;
  int64_t integer_ = 0;
  double real_ = 0;
  double imag_ = 0;
};

}  // namespace npu
