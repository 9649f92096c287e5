// SPDX-License-Identifier: Apache-2.0
// Tensors as plain float32 vectors, and products of those: the layers that the single-operator interface runs work on
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/cube/gemm.h"
#include "ops/scratch.h"
#include "ops/vector/loop/ordered_tensor.h"

namespace npu::ops {

using Floats = std::vector<float>;

/// Copies also where the tensor holds floats: layers change what they read.
inline Floats read_floats(const Tensor& t) {
  Floats values(static_cast<size_t>(t.count()));
  OrderedTensor(t, DType::kFloat).load(0, t.count(), values.data());
  return values;
}

/// Whether its memory holds what dense numbers of T are.
template <class T>
bool lies_as(const Tensor& t) {
  return t.dtype == dtype_of<T> && t.contiguous();
}

/// In place where it holds dense floats, else converted into `buffer`.
inline const float* read_floats(const Tensor& t, float* buffer) {
  if (lies_as<float>(t)) return t.as<const float>();
  OrderedTensor(t, DType::kFloat).load(0, t.count(), buffer);
  return buffer;
}

inline void write_floats(const Tensor& t, const float* values) {
  OrderedTensor(t, DType::kFloat).store(0, t.count(), values);
}
inline void write_floats(const Tensor& t, const Floats& values) { write_floats(t, values.data()); }

/// A tensor that is only read, as dense numbers of T: in place where it holds them so.
template <class T>
class ValuesIn {
 public:
  explicit ValuesIn(const Tensor& t) : data_(t.as<const T>()) {
    if (lies_as<T>(t)) return;
    OrderedTensor(t, dtype_of<T>).load(0, t.count(), own_.at_least(t.count()));
    data_ = own_;
  }
  operator const T*() const { return data_; }  // NOLINT: used like the array it is

 private:
  Scratch<T> own_;
  const T* data_;
};
using FloatsIn = ValuesIn<float>;

/// A tensor that is only written, all of it before `store`: in place where it holds dense floats.
class FloatsOut {
 public:
  explicit FloatsOut(const Tensor& t) : tensor_(t), in_place_(lies_as<float>(t)) {
    data_ = in_place_ ? t.as<float>() : own_.at_least(t.count());
  }
  void store() const {
    if (!in_place_) write_floats(tensor_, data_);
  }
  operator float*() const { return data_; }  // NOLINT: used like the array it is

 private:
  Tensor tensor_;
  bool in_place_;
  Scratch<float> own_;
  float* data_;
};

/// c = op(a) * op(b) + beta * c, c m x n.
inline void add_product(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
                        float* c, float beta = 1) {
  cube::gemm<float>({trans_a, trans_b, m, n, k, 1, a, trans_a ? m : k, b, trans_b ? k : n, beta, c, n});
}

/// The sum of all rows of a [rows, width]: of a bias, over all steps and sequences. In double, row after row.
inline void sum_rows(const float* a, int64_t rows, int64_t width, float* to) {
  std::vector<double> sums(static_cast<size_t>(width));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < width; ++k) sums[static_cast<size_t>(k)] += static_cast<double>(a[row * width + k]);
  std::copy(sums.begin(), sums.end(), to);
}

}  // namespace npu::ops
