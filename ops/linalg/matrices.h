// SPDX-License-Identifier: Apache-2.0
// A batch of matrices: the last two axes of a tensor are a matrix, the others number them. Matrices are loaded into and
// stored from dense row-major float64 memory (complex128 where an algorithm takes complex ones), whatever the strides
// and the dtype; small ones are the use case, so every algorithm here works on one matrix in one thread and batches are
// spread over threads.
#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/thread_pool.h"
#include "ops/operator.h"
#include "ops/scratch.h"
#include "ops/vector/loop/rows.h"

namespace npu::ops {

class Matrices {
 public:
  Matrices() = default;
  /// Raises 161002 unless `tensor` has two dimensions or more and a real floating dtype, or with `slot` kComplex128 a
  /// complex one.
  Matrices(const Tensor& tensor, const char* name, DType slot = DType::kDouble) {
    require(tensor.rank() >= 2, "{} is {}; it must have 2 dimensions or more, the last two being a matrix", name,
            tensor);
    const bool complex = slot == DType::kComplex128;
    require(complex ? is_complex(tensor.dtype) : is_floating(tensor.dtype), "{} is {}; it must have a {} dtype", name,
            tensor, complex ? "complex" : "real floating-point");
    const size_t axes[2] = {tensor.rank() - 2, tensor.rank() - 1};
    rows_ = Rows(tensor, axes, slot);
    height_ = tensor.shape[axes[0]];
    width_ = tensor.shape[axes[1]];
  }
  int64_t count() const { return rows_.count(); }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  int64_t size() const { return height_ * width_; }

  /// `E`: double, or std::complex<double> for complex ones.
  template <class E = double>
  void load(int64_t index, std::type_identity_t<E>* to) const {
    const void* from = rows_.load(index, to);
    if (from != to && size() > 0) std::memcpy(to, from, static_cast<size_t>(size()) * sizeof(E));
  }
  template <class E = double>
  void store(int64_t index, const std::type_identity_t<E>* from) const {
    if (size() == 0) return;
    const Scratch<E> buffer(size());
    void* to = rows_.target(index, buffer.data());
    std::memcpy(to, from, static_cast<size_t>(size()) * sizeof(E));
    rows_.store(index, to);
  }

 private:
  Rows rows_;
  int64_t height_ = 0, width_ = 0;
};

/// What matrices of the dtype are computed in by algorithms that take complex ones.
inline DType slot_of_matrices(DType dtype) { return is_complex(dtype) ? DType::kComplex128 : DType::kDouble; }

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

/// The batch axes of a tensor of matrices.
inline Dims batch_of(const Tensor& t) {
  Dims batch = t.shape;
  batch.pop_back();
  batch.pop_back();
  return batch;
}

/// `batch` followed by a matrix of `height` x `width`.
inline Dims matrix_shape(Dims batch, int64_t height, int64_t width) {
  batch.push_back(height);
  batch.push_back(width);
  return batch;
}

/// Raises 161002 unless the last two axes are equal.
inline void require_square(const Tensor& t, const char* name) {
  require(t.rank() >= 2 && t.shape[t.rank() - 1] == t.shape[t.rank() - 2],
          "{} is {}; it must be a square matrix or a batch of them", name, t);
}

/// Calls `body(index)` for each of `count` matrices of `work` multiplications, on any threads.
template <class F>
void for_matrices(int64_t count, int64_t work, F&& body) {
  // Some ten microseconds of work a part; below that a thread costs more than it brings.
  const int64_t grain = std::max<int64_t>(1, 20000 / std::max<int64_t>(1, work));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace npu::ops
