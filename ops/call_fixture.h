// SPDX-License-Identifier: Apache-2.0
// For tests and benches: operators called by name, and tensors of any dtype and layout with float64 access.
#pragma once

#include <cstring>
#include <functional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/operator.h"
#include "ops/runner/call.h"
#include "ops/vector/conversion/convert.h"

namespace npu::ops {

/// Memory and a view of it.
class Array {
 public:
  /// Row-major; `order`, when given, lists the axes from the slowest in memory to the fastest, and `gap` leaves that
  /// many unused elements between neighbours of the fastest axis.
  Array(DType dtype, const Dims& shape, std::vector<size_t> order = {}, int64_t gap = 0) {
    view_.dtype = dtype;
    view_.shape = shape;
    view_.strides = Dims(shape.size(), 1);
    int64_t stride = 1 + gap;
    for (size_t i = shape.size(); i-- > 0;) {
      const size_t axis = order.empty() ? i : order[i];
      view_.strides[axis] = stride;
      stride *= std::max<int64_t>(shape[axis], 1);
    }
    view_.storage_elements = stride;
    memory_.resize(static_cast<size_t>(stride) * size_of(dtype) + 64);
    view_.data = memory_.data();
  }

  const Tensor& tensor() const { return view_; }
  operator const Tensor&() const { return view_; }  // NOLINT: an array reads as its tensor

  Array&& random(unsigned seed) && {
    std::mt19937 engine(seed);
    std::uniform_int_distribution<int> steps(-16, 16);
    const double unit = is_integer(view_.dtype) ? 1 : 0.125;
    each([&](int64_t offset) { store(offset, steps(engine) * unit); });
    return std::move(*this);
  }
  Array&& filled(double value) && {
    each([&](int64_t offset) { store(offset, value); });
    return std::move(*this);
  }

  /// Elements in row-major order of the view.
  std::vector<double> values() const {
    std::vector<double> out;
    each([&](int64_t offset) {
      double value = 0;
      load(offset, &value);
      out.push_back(value);
    });
    return out;
  }

  /// Calls f(offset in elements) for each element in row-major order of the view.
  void each(const std::function<void(int64_t)>& f) const {
    Dims index(view_.rank(), 0);
    for (int64_t i = 0; i < view_.count(); ++i) {
      int64_t offset = 0;
      for (size_t d = 0; d < index.size(); ++d) offset += index[d] * view_.strides[d];
      f(offset);
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < view_.shape[d]) break;
        index[d] = 0;
      }
    }
  }

 private:
  void* at(int64_t offset) const { return view_.bytes() + offset * static_cast<int64_t>(size_of(view_.dtype)); }
  void load(int64_t offset, double* value) const { converter(view_.dtype, DType::kDouble)(at(offset), 1, value, 1, 1); }
  void store(int64_t offset, double value) { converter(DType::kDouble, view_.dtype)(&value, 1, at(offset), 1, 1); }

  std::vector<std::byte> memory_;
  Tensor view_;
};

}  // namespace npu::ops
