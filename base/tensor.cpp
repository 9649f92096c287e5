// SPDX-License-Identifier: Apache-2.0
#include "base/tensor.h"

namespace npu {

bool Tensor::contiguous() const {
  int64_t expected = 1;
  bool dense = true;
  for (size_t i = rank(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    dense &= strides[i] == expected;
    expected *= shape[i];
  }
  return dense;
}

int64_t Tensor::span() const {
  int64_t last = 0;
  for (size_t i = 0; i < rank(); ++i) {
    if (shape[i] == 0) return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

Tensor Tensor::view(const Dims& new_shape, const Dims& new_strides) const {
  Tensor out = *this;
  out.shape = new_shape;
  out.strides = new_strides;
  return out;
}

Tensor Tensor::transposed(size_t a, size_t b) const {
  Tensor out = *this;
  std::swap(out.shape[a], out.shape[b]);
  std::swap(out.strides[a], out.strides[b]);
  return out;
}

bool Tensor::expands(const Dims& target) const {
  if (rank() > target.size()) return false;
  const int64_t* const last = target.end() - rank();
  return std::equal(shape.begin(), shape.end(), last,
                    [](int64_t own, int64_t wanted) { return own == wanted || own == 1; });
}

Tensor Tensor::expanded(const Dims& target) const {
  Tensor out = *this;
  out.shape = target;
  out.strides.resize(0);
  require(rank() <= target.size(), "{} does not expand to {}: it has more dimensions", *this, target);
  const size_t lead = target.size() - rank();
  out.strides.resize(lead, 0);
  for (size_t i = 0; i < rank(); ++i) {
    require(shape[i] == target[lead + i] || shape[i] == 1, "{} does not expand to {}: size {} against {}", *this,
            target, shape[i], target[lead + i]);
    out.strides.push_back(shape[i] == target[lead + i] ? strides[i] : 0);
  }
  return out;
}

Tensor make_tensor(void* data, DType dtype, const Dims& shape) {
  Tensor t;
  t.dtype = dtype;
  t.shape = shape;
  t.strides = contiguous_strides(shape);
  t.storage_elements = count_of(shape);
  t.data = data;
  return t;
}

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "none";
  return fmt::format("{}[{}]", name_of(tensor.dtype), to_string(tensor.shape));
}

}  // namespace npu

fmt::format_context::iterator fmt::formatter<npu::Tensor>::format(const npu::Tensor& t, format_context& ctx) const {
  return fmt::format_to(ctx.out(), "{}", npu::to_string(t));
}

fmt::format_context::iterator fmt::formatter<npu::DType>::format(npu::DType t, format_context& ctx) const {
  return fmt::format_to(ctx.out(), "{}", npu::name_of(t));
}
