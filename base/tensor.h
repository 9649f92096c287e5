// SPDX-License-Identifier: Apache-2.0
// A strided view of memory: what aclCreateTensor describes, what every kernel reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/dims.h"
#include "base/dtype.h"

namespace npu {

struct Tensor {
  DType dtype = DType::kUndefined;
  int32_t format = 2;            ///< aclFormat; says nothing about the strides of base formats
  Dims shape;                    ///< view sizes
  Dims strides;                  ///< in elements; 0 for expanded axes
  int64_t offset = 0;            ///< of the view's first element, in elements from `data`
  int64_t storage_elements = 0;  ///< what the storage holds, as the client declared it
  void* data = nullptr;          ///< start of the storage
  Tensor* origin = nullptr;      ///< the client's object; outputs of data-dependent size write their shape there

  /// False for an optional argument the client left out.
  bool defined() const { return dtype != DType::kUndefined; }
  int64_t count() const { return count_of(shape); }
  size_t rank() const { return shape.size(); }
  int64_t dim(int64_t d) const { return shape.empty() ? 1 : shape[wrap_dim(d, rank())]; }
  bool contiguous() const;
  /// Number of elements from the first to one past the last the view can touch.
  int64_t span() const;
  /// First element of the view.
  std::byte* bytes() const { return static_cast<std::byte*>(data) + offset * static_cast<int64_t>(size_of(dtype)); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(bytes());
  }

  /// The same memory seen with other sizes; no check against the storage.
  Tensor view(const Dims& new_shape, const Dims& new_strides) const;
  /// Axes `a` and `b` exchanged.
  Tensor transposed(size_t a, size_t b) const;
  /// Whether `expanded(target)` is one.
  bool expands(const Dims& target) const;
  /// Broadcast to `target` (strides 0 on grown axes); raises 161002 if it does not fit.
  Tensor expanded(const Dims& target) const;
};

/// What its elements take side by side; an optional argument that was left out takes nothing.
inline int64_t bytes_of(const Tensor& tensor) { return tensor.count() * static_cast<int64_t>(size_of(tensor.dtype)); }

/// A row-major tensor over memory the caller owns.
Tensor make_tensor(void* data, DType dtype, const Dims& shape);

/// "float32[3x4]": the spelling of tensors in error texts.
std::string to_string(const Tensor& tensor);

}  // namespace npu

// As {} only, and compiled once: what fmt's formatter of texts brings along would be in every source.
template <>
struct fmt::formatter<npu::Tensor> {
  constexpr auto parse(format_parse_context& ctx) { return ctx.begin(); }
  format_context::iterator format(const npu::Tensor& t, format_context& ctx) const;
};
template <>
struct fmt::formatter<npu::DType> {
  constexpr auto parse(format_parse_context& ctx) { return ctx.begin(); }
  format_context::iterator format(npu::DType t, format_context& ctx) const;
};
